"""Analyses of runs: compare, cost, diagnose, retrieval, tabulate."""
