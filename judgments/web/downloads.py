"""File responses for pages and the API."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.http import content_disposition_header

CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "md": "text/markdown; charset=utf-8",
    "svg": "image/svg+xml",
    "tex": "application/x-tex",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "zip": "application/zip",
}


def attachment(name: str, body: str | bytes) -> HttpResponse:
    """The file under this name; its ending, one of ``CONTENT_TYPES``, says what it is."""
    response = HttpResponse(body, content_type=CONTENT_TYPES[name.rsplit(".", 1)[-1]])
    response.headers["Content-Disposition"] = disposition(name)
    return response


def disposition(name: str) -> str:
    """The header by which a browser saves a file, whatever letters its name has.

    Examples
    --------
    >>> disposition("qrels.txt"), disposition("größe.txt")
    ('attachment; filename="qrels.txt"', "attachment; filename*=utf-8''gr%C3%B6%C3%9Fe.txt")
    """
    return content_disposition_header(True, name) or "attachment"
