"""Pages of runs: report, browse, demo."""
