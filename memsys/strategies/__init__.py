"""Retrieval strategies, one per module."""
