"""The graph over memories: building, stores, scores, expansion and gate."""
