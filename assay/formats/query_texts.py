"""Validation of query texts and query ids, notes on personal data, and generated ids for queries without one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from assay.core.ids import id_fault
from assay.core.read_report import Tally
from assay.formats.grade_cells import Fault

MAX_QUERY = 2048
PERSONAL, DOUBTFUL = "W59", "W56"
_FIX = "review it; if it names a person, remove it from the file"


def could_be_query(text: str) -> bool:
    """Return whether the text of a query is valid."""
    return len(text) <= MAX_QUERY and "\0" not in text and bool(text.strip())


def query_fault(text: str) -> Fault | None:
    """Return the fault of a query text, or None.

    Examples
    --------
    >>> query_fault("rain jacket") is None, query_fault("  ").code, query_fault("x" * 3000).code
    (True, 'E11', 'E21')
    """
    if could_be_query(text):
        return None
    if not text.strip():
        return Fault("E11", "the query is empty", "add the query text to every row")
    if len(text) > MAX_QUERY:
        return Fault("E21", f"the query is {len(text)} characters long, more than {MAX_QUERY}", "shorten it")
    return Fault("E19", "the query contains a NUL character", "remove it")


def note_personal(tally: Tally, line: int | None, text: str) -> None:
    """Report a query that may contain personal data, without repeating it."""
    # Its patterns take a fiftieth of a command that reads no queries.
    from assay.core.redaction import is_doubtful, redact

    shown, kinds = redact(text)
    if kinds:
        problem = f"a query that may contain personal data: {', '.join(kinds)}"
        tally.note(PERSONAL, line, problem, done="accepted unchanged", fix=_FIX, raw=shown, column="query")
    elif is_doubtful(text):
        problem = "this may be a disguised email address"
        tally.note(DOUBTFUL, line, problem, done="kept", fix=_FIX, raw=text, column="query")


def query_id_fault(text: str) -> Fault | None:
    """Return the fault of a query id, or None."""
    fault = id_fault(text)
    return Fault(fault[0], f"the query id {fault[1]}", "correct the id") if fault else None


def numbered_ids(texts: Iterable[str], taken: Iterable[str] = (), *, of: str = "") -> dict[str, str]:
    """Return generated ids of distinct texts, with a prefix that is unique to the list.

    Examples
    --------
    >>> numbered_ids(["boots", "tent", "boots"])
    {'boots': 'q55a25f-001', 'tent': 'q55a25f-002'}
    """
    distinct = list(dict.fromkeys(texts))
    used = set(taken)
    prefix = hashlib.sha256("\x1f".join([of, *distinct]).encode("utf-8", "surrogatepass")).hexdigest()[:6]
    width = max(3, len(str(len(distinct) + len(used))))
    numbers = (f"q{prefix}-{number:0{width}d}" for number in range(1, len(distinct) + len(used) + 1))
    return dict(zip(distinct, (name for name in numbers if name not in used), strict=False))
