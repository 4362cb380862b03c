"""Hydra configuration: one folder a choice."""
