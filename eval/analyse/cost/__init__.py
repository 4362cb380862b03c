"""Cost tables and break-even of finished runs."""
