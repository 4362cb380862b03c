"""Stores of vectors and relations: protocols and engines."""
