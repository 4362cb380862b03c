"""Export and import recorded calls."""
