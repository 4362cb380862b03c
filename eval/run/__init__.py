"""One experiment: build, ingest, ask, record."""
