"""Vector search, lexical search and rankings."""
