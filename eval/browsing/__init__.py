"""Browsing runs question by question, in a browser on the same machine."""
