"""Strategies in the interfaces of other programs."""
