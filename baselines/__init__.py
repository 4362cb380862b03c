"""Memory systems to compare with: bounds, rankings, Mem0, libraries and services."""
