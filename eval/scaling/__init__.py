"""What `python -m eval.bench_scale` measures, each size in a process of its own."""
