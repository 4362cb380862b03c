"""What every package shares: errors, types, places, untrusted files, text, dates and tokens."""
