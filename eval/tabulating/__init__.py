"""Runs of an experiment as one small table."""
