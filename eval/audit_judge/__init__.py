"""Measure how far the verdicts of a judge can be trusted."""
