"""The graph over memories: building, stores and scores."""
