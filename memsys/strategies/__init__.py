"""One retrieval strategy a file."""
