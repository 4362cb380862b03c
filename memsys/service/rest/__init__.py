"""The memory operations over HTTP (extra `server`): `python -m memsys.serve`."""
