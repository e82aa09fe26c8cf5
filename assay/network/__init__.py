"""Outgoing connections of the server: allowed addresses only, with time limits and typed errors."""
