"""Prices, usage and dollars of recorded calls."""
