"""Entities and relations that a language model finds, keeps up to date, and is asked from."""
