"""Pages of the docs that follow from the code: the options of a run, and the Python interface."""
