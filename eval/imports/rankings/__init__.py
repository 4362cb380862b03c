"""Rankings of other programs become run folders."""
