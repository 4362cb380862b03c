"""Score the answers of another system, or a run anew."""
