"""One page on one or several runs."""
