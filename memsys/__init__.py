"""The memory system: what is remembered, indexed, linked and retrieved."""
