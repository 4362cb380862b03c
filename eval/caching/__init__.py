"""Recorded calls to models, moved from one machine to another."""
