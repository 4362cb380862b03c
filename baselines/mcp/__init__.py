"""Memory servers that speak the Model Context Protocol, as one strategy (docs/mcp.md)."""
