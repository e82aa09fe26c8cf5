"""The engineer's command: files in, files out, no database."""
