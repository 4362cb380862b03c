"""Facts that a language model writes and keeps: extracted, compared, changed, with a history."""
