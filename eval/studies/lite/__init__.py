"""Construction and validation of a question subset that estimates the score on all questions."""
