"""Error analysis: where a run loses its points."""
