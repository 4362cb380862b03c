"""What `python -m eval.studies.bench_scale` measures, each size in a process of its own."""
