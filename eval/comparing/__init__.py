"""Runs set against each other, question by question."""
