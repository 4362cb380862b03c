"""The memory operations as tools of the Model Context Protocol (extra `mcp`)."""
