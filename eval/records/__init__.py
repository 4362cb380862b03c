"""What a run folder holds: types, files, the loader."""
