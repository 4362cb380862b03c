"""Summaries of records: means and intervals per question type."""
