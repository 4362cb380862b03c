"""Readers of conversation files."""
