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
    """Return a file response; the extension, one of ``CONTENT_TYPES``, sets the content type."""
    response = HttpResponse(body, content_type=CONTENT_TYPES[name.rsplit(".", 1)[-1]])
    response.headers["Content-Disposition"] = disposition(name)
    return response


def disposition(name: str) -> str:
    """Return the Content-Disposition header for a file name with any letters."""
    return content_disposition_header(True, name) or "attachment"
