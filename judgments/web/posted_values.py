"""Parsing of submitted values: public ids, and text that every database accepts."""

from __future__ import annotations

from uuid import UUID


def uuid_of(text: str) -> UUID | None:
    """The public id that was sent; None for anything else, which is nobody's id."""
    try:
        return UUID(text)
    except ValueError:
        return None


def searchable(text: str) -> str:
    """The text as it can be looked for: PostgreSQL takes no NUL, not even in a question."""
    return text.replace("\0", "\ufffd")
