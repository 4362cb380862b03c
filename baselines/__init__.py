"""What a memory system is compared with."""
