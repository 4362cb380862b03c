"""Metrics: one a file, each with formula and source; registry.py lists them."""
