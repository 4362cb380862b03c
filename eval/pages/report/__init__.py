"""Reports of one or several runs as an HTML page and as markdown."""
