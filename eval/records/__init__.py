"""Run folders: the types of their contents, their files, and the loader."""
