"""A graph of entities and relations that a language model extracts and maintains."""
