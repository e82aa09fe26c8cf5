"""Parsing of submitted values: public ids, and text that every database accepts."""

from __future__ import annotations

from uuid import UUID


def uuid_of(text: str) -> UUID | None:
    """Return the submitted public id; None if it is not a UUID."""
    try:
        return UUID(text)
    except ValueError:
        return None


def searchable(text: str) -> str:
    """Return the text without NUL, which PostgreSQL rejects even in a query."""
    return text.replace("\0", "\ufffd")
