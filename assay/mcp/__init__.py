"""MCP server: the tools with which an agent lists, evaluates, compares, gates, and requests judgments."""
