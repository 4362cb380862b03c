"""Intervals, paired tests and the power of comparisons."""
