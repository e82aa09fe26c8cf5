"""Validation of query texts and query ids, and generated ids for queries without one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from assay.core.ids import id_fault
from assay.formats.grade_cells import Fault

MAX_QUERY = 2048


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
