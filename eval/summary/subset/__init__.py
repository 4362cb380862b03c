"""Full-score estimates from a question subset."""
