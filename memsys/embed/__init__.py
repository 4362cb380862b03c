"""Embedders and their cache on disk."""
