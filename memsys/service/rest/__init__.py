"""The memory operations over HTTP (extra `server`): `python -m eval serve`."""
