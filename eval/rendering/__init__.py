"""Numbers to tables, charts and pages; no arithmetic beyond formatting."""
