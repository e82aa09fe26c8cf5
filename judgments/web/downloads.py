"""File responses for pages and the API."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from itertools import islice
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header

Row = TypeVar("Row")
CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "md": "text/markdown; charset=utf-8",
    "svg": "image/svg+xml",
    "tex": "application/x-tex",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "zip": "application/zip",
}


def attachment(name: str, body: str | bytes) -> HttpResponse:
    """Return a file response; the extension, one of ``CONTENT_TYPES``, sets the content type."""
    response = HttpResponse(body, content_type=CONTENT_TYPES[name.rsplit(".", 1)[-1]])
    response.headers["Content-Disposition"] = disposition(name)
    return response


def json_file(name: str, content: Any) -> HttpResponse:
    """Return a file response with indented JSON."""
    return attachment(f"{name}.json", json.dumps(content, ensure_ascii=False, indent=1))


def file_parts(rows: Iterator[Row], write: Callable[[list[Row], BytesIO], object], at_once: int) -> Iterator[bytes]:
    """Yield a file in parts, each with this number of rows, so that a long file is never in memory as a whole."""
    while some := list(islice(rows, at_once)):
        stream = BytesIO()
        write(some, stream)
        yield stream.getvalue()


def streamed(name: str, parts: Iterable[str | bytes], content_type: str = "") -> StreamingHttpResponse:
    """Return a file response that is sent in parts."""
    response = StreamingHttpResponse(parts, content_type=content_type or CONTENT_TYPES[name.rsplit(".", 1)[-1]])
    response.headers["Content-Disposition"] = disposition(name)
    return response


FROM = re.compile(r"bytes=(\d{1,15})-")


def resumable(
    request: HttpRequest, name: str, blocks: Callable[[], Iterator[bytes]], version: str
) -> HttpResponse | StreamingHttpResponse:
    """Return a file response that continues an interrupted download (``Range: bytes=N-`` with ``If-Range``).

    ``blocks`` returns the same bytes each time for one version.
    """
    etag = f'"{version}"'
    wanted = FROM.fullmatch(request.headers.get("Range", ""))
    start = int(wanted[1]) if wanted and request.headers.get("If-Range", "") == etag else 0
    # Only a continued download needs the size in advance.
    size = sum(map(len, blocks())) if start else 0
    headers = {"ETag": etag, "Accept-Ranges": "bytes", "Cache-Control": "no-store"}
    if start and start >= size:
        return HttpResponse(status=416, headers={**headers, "Content-Range": f"bytes */{size}"})
    if start:
        headers |= {"Content-Range": f"bytes {start}-{size - 1}/{size}", "Content-Length": str(size - start)}
    return StreamingHttpResponse(
        _after(blocks(), start),
        status=206 if start else 200,
        content_type=CONTENT_TYPES.get(name.rsplit(".", 1)[-1], "application/octet-stream"),
        headers={**headers, "Content-Disposition": disposition(name)},
    )


def _after(blocks: Iterator[bytes], start: int) -> Iterator[bytes]:
    for block in blocks:
        if start < len(block):
            yield block[start:]
        start = max(0, start - len(block))


def disposition(name: str) -> str:
    """Return the Content-Disposition header for a file name with any letters."""
    return content_disposition_header(True, name) or "attachment"
