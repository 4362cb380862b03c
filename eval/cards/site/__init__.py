"""`memsys site`: a static page of score cards."""
