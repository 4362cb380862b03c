"""Compare runs question by question."""
