"""`memsys card`: score cards, which anyone can verify from the answers."""
