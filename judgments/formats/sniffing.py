"""Which format does a file look like, from its first bytes?"""

from __future__ import annotations

import json
from collections.abc import Iterable

from judgments.formats.trec_fields import fields, number

MAX_LINES = 20

_DOCUMENT_ID = {"doc_id", "docid", "id", "_id", "document_id", "product_id"}
_DOCUMENT_TEXT = {"title", "name", "text", "description", "content", "body"}
_LOG = {"count", "timestamp", "client_id", "clicks"}
_QUERY = {"query", "query_text", "user_query"}


def sniff(head: bytes, kind: str | None = None) -> str | None:
    """Return the name of the format that a file looks like, or None.

    Parameters
    ----------
    head : bytes
        The beginning of the decoded file, 64 KiB are plenty.
    kind : str, optional
        Only formats of this kind: ``qrels``, ``run``, ``documents``, ...

    Examples
    --------
    >>> sniff(b"q1 Q0 d1 1 12.5 bm25\\n"), sniff(b"q1 0 d1 3\\n"), sniff(b"query,count\\nshoes,12\\n")
    ('trec-run', 'trec-qrels', 'query-log-csv')
    >>> sniff(b"query,frequency\\nshoes,12\\n", kind="queries")
    'queries-csv'
    """
    text = head.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    names = _json_names(text) if text[:1] in ("{", "[") else _table_names(text)
    if kind is not None:
        from judgments.formats import FORMATS

        names = [name for name in names if FORMATS[name].kind == kind]
    return names[0] if names else None


def _json_names(text: str) -> list[str]:
    if text.startswith("["):
        return ["judgment-list"] if '"ratings"' in text else []
    if '"assay_manifest"' in text:
        return ["manifest"]
    try:
        first = json.loads(text.partition("\n")[0])
    except (RecursionError, ValueError):
        return []
    keys = set(first) if isinstance(first, dict) else set()
    names = ["labels-jsonl"] if {"query_id", "doc_id", "outcome"} <= keys else []
    if {"query_id", "doc_id"} <= keys:
        names.append("pairs-jsonl")
    if keys & _DOCUMENT_ID and keys & _DOCUMENT_TEXT and "query_id" not in keys:
        names.append("documents-jsonl")
    if keys & _QUERY and "doc_id" not in keys:
        names.append("query-log-jsonl")
    return names


def _table_names(text: str) -> list[str]:
    lines = [line for line in text.splitlines()[:MAX_LINES] if line.strip() and not line.startswith("#")]
    if not lines:
        return []
    if not text.endswith("\n") and len(lines) > 1 and len(text) > 1 << 15:
        lines.pop()
    rows = [fields(line) for line in lines]
    if _most(len(row) >= 6 and number(row[4], infinite=True) is not None and _whole(row[3]) for row in rows):
        return ["trec-run"]
    if _most(len(row) == 4 and number(row[3]) is not None and "," not in row[0] for row in rows):
        return ["trec-qrels"]
    return _header_names(lines[0])


def _most(fits: Iterable[bool]) -> bool:
    """Do four lines of five fit? An odd one is for the report, not a reason to know the format no longer."""
    counted = list(fits)
    return sum(counted) * 5 >= len(counted) * 4


def _header_names(line: str) -> list[str]:
    delimiter = max(",;\t", key=line.count)
    columns = {cell.strip().strip('"').casefold() for cell in line.split(delimiter)}
    names = []
    if columns == {"query-id", "corpus-id", "score"}:
        names.append("beir-qrels")
    if columns & {"grade", "rating"} and columns & {"doc_id", "docid"}:
        names.append("ratings-csv")
    if {"query_id", "doc_id"} <= columns:
        names.append("pairs-csv")
    elif columns & _DOCUMENT_ID and columns & _DOCUMENT_TEXT and not columns & _QUERY:
        names.append("documents-csv")
    if columns & _QUERY and not columns & {"doc_id", "docid"}:
        names.extend(["query-log-csv", "queries-csv"] if columns & _LOG else ["queries-csv", "query-log-csv"])
    if not names and line.count("\t") == 1:
        names.append("queries-tsv")
    return names


def _whole(text: str) -> bool:
    return text.lstrip("+-").isdigit()
