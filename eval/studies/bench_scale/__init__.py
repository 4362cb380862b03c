"""Speed and memory of stores with a thousand to a million memories."""
