"""What of a query log stays in storage? Every search that can be counted, and nothing that could name a person.

The file that somebody sent holds more than that: e-mail addresses in queries, names of clients, columns that nobody
reads. So it is written anew when it is stored, and removed.
"""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from tempfile import TemporaryFile
from typing import IO, Any

from judgments import storage
from judgments.core.cells import csv_row, escape
from judgments.formats import FORMATS
from judgments.formats.log_blocks import MAX_LOG
from judgments.formats.reading import open_as
from judgments.formats.rows import LogRow
from judgments.models import Upload
from pooling.sampling.redaction import redact

FOLDER = "query-logs"
RAW, COUNTED = "query-log-csv", "query-log-jsonl"
COLUMNS = ("query", "timestamp", "client_id", "clicks", "language")
# Fast rather than small: a log is read for every draw.
LEVEL = 1
BEAT = 50_000


def keep(upload: Upload, *, counted: bool, progress: Callable[[int], None] | None = None) -> tuple[str, str]:
    """Write a log anew; answers its path and format.

    Parameters
    ----------
    upload : Upload
        The file as it came.
    counted : bool
        Whether it holds counts: a table of single searches is read faster.
    progress : callable, optional
        Called with the bytes that were read so far.
    """
    write = _lines if counted else _table
    with storage.open_file(upload.path) as source, TemporaryFile() as made:
        with gzip.GzipFile(fileobj=made, mode="wb", compresslevel=LEVEL, mtime=0) as packed:
            text = io.TextIOWrapper(io.BufferedWriter(packed, 1 << 20), encoding="utf-8", newline="")
            write(_clean(_rows(source, upload, progress)), text)
            text.flush()
            text.detach().flush()
        made.seek(0)
        path, _, _ = storage.keep_stream(FOLDER, made)
    return path, COUNTED if counted else RAW


def _rows(source: IO[bytes], upload: Upload, progress: Callable[[int], None] | None) -> Iterator[LogRow]:
    member = FORMATS[upload.format]
    options = dict(upload.options)
    encoding = options.pop("encoding", "utf-8")
    content, tally = open_as(source, upload.filename, upload.format, "", encoding=encoding, limit=MAX_LOG)
    assert member.stream is not None  # noqa: S101 (each format of a log has one)
    with content:
        for number, row in enumerate(member.stream(content, tally, **options)):
            if progress is not None and number % BEAT == 0:
                progress(content.size)
            yield row


def _clean(rows: Iterable[LogRow]) -> Iterator[dict[str, Any]]:
    """The rows without what could name a person; a client is a number that means nothing in another file."""
    key = os.urandom(16)
    queries: dict[str, str] = {}
    for row in rows:
        query = queries.get(row.query)
        if query is None:
            query = queries[row.query] = redact(row.query)[0]
        client = blake2b(row.client_id.encode(), digest_size=8, key=key).hexdigest() if row.client_id else ""
        told = {"query": query, "timestamp": row.timestamp, "client_id": client, "clicks": row.clicks}
        yield {**told, "language": row.language, "count": row.count}


def _table(rows: Iterator[dict[str, Any]], stream: io.TextIOWrapper) -> None:
    stream.write(csv_row(list(COLUMNS)))
    for row in rows:
        clicks, language = escape(row["clicks"]), escape(row["language"])
        stream.write(csv_row([escape(row["query"]), row["timestamp"], row["client_id"], clicks, language]))


def _lines(rows: Iterator[dict[str, Any]], stream: io.TextIOWrapper) -> None:
    for row in rows:
        stream.write(json.dumps({name: value for name, value in row.items() if value != ""}, ensure_ascii=False) + "\n")
