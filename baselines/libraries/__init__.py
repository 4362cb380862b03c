"""Memory libraries as baselines, each in a venv of its own: docs/libraries.md."""
