"""Score the answers of other systems, or recompute the scores of a run."""
