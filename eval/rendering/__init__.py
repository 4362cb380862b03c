"""Rendering of numbers as tables, charts and pages; no arithmetic beyond formatting."""
