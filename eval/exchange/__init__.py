"""Export, merge, caches, trackers, downloads."""
