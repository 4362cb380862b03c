"""Measure how far a judge's verdicts can be trusted."""
