"""Check scores against pinned ones."""
