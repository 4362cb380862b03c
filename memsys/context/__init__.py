"""What is put before the reader, within a token budget."""
