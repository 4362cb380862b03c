"""Intervals, paired tests and what a comparison can detect."""
