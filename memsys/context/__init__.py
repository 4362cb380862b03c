"""Context writers: the text for the reader, within a token budget."""
