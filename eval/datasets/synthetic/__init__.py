"""Conversations told out of a small world that is rolled forward in time."""
