"""The `memory` options, which define one unit of memory."""
