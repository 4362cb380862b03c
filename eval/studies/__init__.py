"""Studies behind single tables of the docs; no run needs them."""
