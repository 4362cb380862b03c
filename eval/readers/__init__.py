"""From retrieval to answer."""
