"""The `memory` options: what one unit of memory is."""
