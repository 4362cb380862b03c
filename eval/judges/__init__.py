"""Judges: verdicts on answers, by a language model, by a rule or from a file, and their means."""
