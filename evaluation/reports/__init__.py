"""Output formats of scores, shared by the command line and the server."""
