"""Memory libraries as baselines, each in a separate virtual environment (docs/libraries.md)."""
