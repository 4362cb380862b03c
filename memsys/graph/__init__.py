"""The graph over memories: build, store, score, expand, gate."""
