"""Log finished runs to experiment trackers; docs/running.md describes what is logged."""
