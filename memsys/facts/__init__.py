"""Facts that a language model extracts from dialogue and keeps up to date, with a history."""
