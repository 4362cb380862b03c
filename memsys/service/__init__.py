"""The memory operations for programs: add, search, update and delete, by owner, with a history."""
