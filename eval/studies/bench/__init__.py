"""Seconds and memory of runs: growth, share of the harness, calls to models, counting tokens."""
