"""The graph over memories: building, stores, scores and expansion."""
