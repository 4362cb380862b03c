"""Facts that a language model extracts from dialogue and maintains, with a history."""
