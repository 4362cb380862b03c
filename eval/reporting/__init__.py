"""The report of runs: blocks of text, tables, charts and question cards; as HTML and markdown."""
