"""Text: tokens, terms, dates, numbers."""
