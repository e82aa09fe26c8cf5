"""Stored query logs: every search that can be counted, without personal data.

An uploaded file may also contain email addresses in queries, names of clients, and unused columns. It is therefore
rewritten for storage, and the original is removed. The log is rewritten in the blocks in which it is read: each
distinct text is redacted once, and polars writes several hundred thousand rows at a time.
"""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from assay.core.csv_cells import DANGEROUS, csv_row
from assay.core.redaction import redact
from assay.formats.log_blocks import LogBlock, LogStream, LogTexts, open_log
from assay.sampling.query_normalization import redacted
from judgments.imports import ingestion
from judgments.jobs import limited_process
from judgments.jobs.limited_process import largest
from judgments.models import Upload

if TYPE_CHECKING:
    import polars

    from pooling.models import QueryLog

FOLDER = "query-logs"
RAW, COUNTED = "query-log-csv", "query-log-jsonl"
# Options for reading each format again. Two queries of a counted log can become equal after redaction; their counts add
# up.
OPTIONS: dict[str, dict[str, str]] = {RAW: {}, COUNTED: {"repeated": "each"}}
COLUMNS = ("query", "timestamp", "client_id", "clicks", "language")
# Speed matters more than size, because a log is read for every draw.
LEVEL = 1


def rewrite(upload: Upload, *, counted: bool, progress: Callable[[int], None] | None = None) -> tuple[str, str]:
    """Rewrite a log for storage; return its path and format."""
    with ingestion.local(upload.path) as source, NamedTemporaryFile(prefix="assay-") as made:
        given = (upload, upload.filename, counted, source, Path(made.name))
        limited_process.call(_write_to, *given, limits=largest(), progress=progress, watched=True)
        path, _, _ = ingestion.keep_stream(FOLDER, made)
    return path, COUNTED if counted else RAW


def write(
    stored: Upload | QueryLog, name: str, *, counted: bool, progress: Callable[[int], None] | None = None
) -> tuple[str, str]:
    """Rewrite a stored log in any format; ``name`` appears in messages."""
    with ingestion.local(stored.path) as source, NamedTemporaryFile(prefix="assay-") as made:
        _write_to(stored, name, counted, source, Path(made.name), progress=progress)
        path, _, _ = ingestion.keep_stream(FOLDER, made)
    return path, COUNTED if counted else RAW


def _write_to(
    stored: Upload | QueryLog,
    name: str,
    counted: bool,
    source: Path,
    made: Path,
    *,
    progress: Callable[[int], None] | None,
) -> None:
    with source.open("rb") as stream, made.open("wb") as out:
        log = open_log(stream, path=name, format=stored.format, written=True, **stored.options)
        with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=LEVEL, mtime=0) as packed:
            for part in rewritten_blocks(log, counted=counted):
                packed.write(part)
                if progress is not None:
                    progress(log.bytes_read)


def rewritten_blocks(log: LogStream, *, counted: bool) -> Iterator[bytes]:
    """Yield the content of the rewritten file, one block of the log at a time."""
    return _lines(log) if counted else _table(log)


def _table(log: LogStream) -> Iterator[bytes]:
    rows = _Rows(log.texts, _escaped)
    yield csv_row(list(COLUMNS)).encode()
    for block in log:
        # Not into the compressed file itself, because polars would write past it into the underlying file.
        part = io.BytesIO()
        rows.of(block).select(COLUMNS).write_csv(part, include_header=False)
        yield part.getvalue()


def _escaped(texts: polars.Series) -> polars.Series:
    return texts if texts.null_count() == len(texts) else texts.str.replace(DANGEROUS, "'${0}")


def _without_addresses(clicks: polars.Series) -> polars.Series:
    """Return the clicked ids without email addresses."""
    import polars as pl

    if clicks.null_count() == len(clicks) or not clicks.str.contains("@", literal=True).any():
        return clicks
    texts = (redact(text)[0] if text and "@" in text else text for text in clicks.to_list())
    return pl.Series(clicks.name, list(texts), dtype=pl.String)


def _lines(log: LogStream) -> Iterator[bytes]:
    import polars as pl

    rows = _Rows(log.texts, lambda texts: texts)
    for block in log:
        table, part = rows.of(block).cast({"client_id": pl.String}), io.BytesIO()
        table.select(column for column in table if column.null_count() < len(column)).write_ndjson(part)
        yield part.getvalue()


class _Rows:
    """Rows of blocks without personal data; clients become numbers that have no meaning in other files."""

    def __init__(self, texts: LogTexts, cells: Callable[[polars.Series], polars.Series]) -> None:
        import polars as pl

        self._texts, self._cells = texts, cells
        self._shown = pl.Series([], dtype=pl.String)
        # One cipher block per client, with a key that is never stored, so that the output reveals nothing about the
        # client.
        self._cipher = Cipher(algorithms.AES(os.urandom(16)), modes.ECB())  # noqa: S305

    def of(self, block: LogBlock) -> polars.DataFrame:
        """Return the rows of the next block, null for empty cells."""
        import polars as pl

        if block.written is None:
            raise AssertionError("a block of a rewritten log has all columns")
        shown, _ = redacted(self._texts.known[len(self._shown) :])
        self._shown.append(self._cells(pl.Series(shown, dtype=pl.String)))
        language = None
        if block.language is not None:
            tags, _ = redacted(self._texts.languages.known)
            known = pl.Series(tags, dtype=pl.String).replace("", None)
            language = self._cells(known).gather(block.language)
        return block.written.select(
            pl.col("timestamp"),
            self._cells(_without_addresses(block.written["clicks"])),
            query=self._shown.gather(block.text),
            client_id=self._clients(block),
            language=pl.lit(None, dtype=pl.String) if language is None else language,
            count=pl.lit(None, dtype=pl.Int64) if block.count is None else pl.Series(block.count),
            query_id=pl.col("query_id"),
            clients=pl.lit(None, dtype=pl.Int64)
            if block.clients is None
            else pl.Series(block.clients).replace(0, None),
        )

    def _clients(self, block: LogBlock) -> polars.Series:
        import numpy as np
        import polars as pl

        if block.client is None:
            return pl.Series([None] * len(block), dtype=pl.UInt64)
        halves = np.zeros((len(block), 2), dtype=np.uint64)
        halves[:, 0] = block.client
        numbers = np.frombuffer(self._cipher.encryptor().update(halves.tobytes()), dtype=np.uint64)[::2]
        return pl.Series(numbers).set(pl.Series(block.client == 0), None)
