"""Studies behind single tables and figures of the docs; no run needs them."""
