"""Notes on queries that may identify a person, for review; the queries themselves stay unchanged."""

from __future__ import annotations

from assay.core.read_report import Tally
from assay.core.redaction import is_doubtful, redact

PERSONAL, DOUBTFUL = "W59", "W56"
_FIX = "review it; if it names a person, remove it from the file"


def note_personal(tally: Tally, line: int | None, text: str) -> None:
    """Report a query that may contain personal data, without repeating it."""
    shown, kinds = redact(text)
    if kinds:
        problem = f"a query that may contain personal data: {', '.join(kinds)}"
        tally.note(PERSONAL, line, problem, done="accepted unchanged", fix=_FIX, raw=shown, column="query")
    elif is_doubtful(text):
        problem = "this may be a disguised email address"
        tally.note(DOUBTFUL, line, problem, done="kept", fix=_FIX, raw=text, column="query")
