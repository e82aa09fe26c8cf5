"""Notes on queries that may identify a person, for review; the queries themselves stay unchanged."""

from __future__ import annotations

from judgments.core.redaction import is_doubtful, redact
from judgments.core.report import Tally

PERSONAL, DOUBTFUL = "W59", "W56"
_FIX = "read it; if it names a person, take it out of the file"


def note_personal(tally: Tally, line: int | None, text: str) -> None:
    """List a query that looks as if it named a person; the report does not repeat what it found."""
    shown, kinds = redact(text)
    if kinds:
        found = f"a query with what looks like personal data: {', '.join(kinds)}"
        tally.note(PERSONAL, line, found, done="kept as it stands", fix=_FIX, raw=shown, column="query")
    elif is_doubtful(text):
        found = "this may be an e-mail address in disguise"
        tally.note(DOUBTFUL, line, found, done="kept", fix=_FIX, raw=text, column="query")
