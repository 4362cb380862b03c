"""Benchmark of memsys itself: runs, counting tokens, calls to a model, and large stores."""
