"""Download data sets and check them by sha256."""
