"""Export of a run for other tools: its test collection, its ranking and its records."""
