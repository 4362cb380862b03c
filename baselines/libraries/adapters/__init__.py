"""Scripts for the libraries' own venvs; nothing here is imported by memsys, nor imports it."""
