"""Search and filter the questions of runs in a browser."""
