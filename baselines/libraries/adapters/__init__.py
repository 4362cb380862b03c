"""Scripts that run in the libraries' venvs; they neither import memsys nor are imported by it."""
