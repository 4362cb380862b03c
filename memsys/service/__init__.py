"""Memory operations for a program: add, search, get, update, delete, with owners and a history."""
