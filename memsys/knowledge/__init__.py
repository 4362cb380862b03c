"""What a model writes of conversations: facts, relations, and the units of memory."""
