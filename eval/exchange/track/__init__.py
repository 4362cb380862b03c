"""Log finished runs to experiment trackers; docs/trackers.md describes what is logged."""
