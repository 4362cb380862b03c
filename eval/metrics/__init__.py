"""One metric a file, each with its formula and source."""
