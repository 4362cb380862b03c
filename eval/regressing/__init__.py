"""Scores that are expected, and whether a run still reaches them."""
