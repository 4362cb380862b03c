"""Measuring: data sets, readers, metrics, runs, summaries."""
