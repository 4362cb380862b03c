"""Judges: whether an answer is right, by a model or by a rule, and how far they can be believed."""
