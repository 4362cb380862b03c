"""What one unit of remembering is."""
