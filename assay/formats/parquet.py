"""Entries and columns of Parquet files.

polars reads them and is imported only when such a file is present. Row numbers replace line numbers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.read_report import MAX_RAW, Tally
from assay.formats.column_names import SILENT, ColumnMap, note_rest
from assay.formats.delimited import NAMED
from assay.formats.json_lines import Element
from assay.formats.pair_layouts import Absent, Entry
from assay.formats.reader import NeedsCare
from assay.formats.text_lines import Content
from assay.formats.writer import Written

if TYPE_CHECKING:
    import polars

    from assay.core.text_column import Texts
    from assay.formats.pair_columns import PairColumns

DELETE = 127
MOST_MEMORY = 8 << 30
DECODE = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
except (ImportError, OSError, ValueError):
    pass
import polars
polars.read_parquet(sys.stdin.buffer.read()).write_ipc_stream(sys.stdout.buffer)
"""
# ranx's names for the query and the number in both kinds of file, used for writing.
RANX = ("q_id", "score")

Known = Mapping[str, tuple[str, ...]]


def parquet_entries(
    content: Content, tally: Tally, known: Known, value: str, mapping: ColumnMap = None
) -> Iterator[Entry]:
    """Yield the pairs of a file."""
    frame = _frame(content, tally, known, value, mapping or {})
    numeric = {name for name in ("query_id", "doc_id") if name in frame.columns and frame[name].dtype.is_integer()}
    for line, row in enumerate(frame.iter_rows(named=True), 1):
        tally.read()
        query_id, doc_id = row["query_id"], row["doc_id"]
        raw = ", ".join("null" if cell is None else str(cell) for cell in row.values())
        if query_id is None or doc_id is None:
            name = "query" if query_id is None else "document"
            tally.reject("E11", line, f"the {name} id is null", fix="correct the id", raw=raw, column=f"{name}_id")
            continue
        for name in numeric:
            tally.once("W42", line, "an id is a number", done="read as text", column=name)
        number = row.get(value, Absent)
        yield Entry(line, str(query_id), str(doc_id), number, row.get("rank"), row.get("tag") or "", raw)


def parquet_objects(content: Content, tally: Tally) -> Iterator[Element]:
    """Yield the rows of a file as the objects that a JSONL file would have."""
    if not content.parquet:
        tally.refuse("does not begin like a Parquet file")
    frame = _decoded(content.binary(), tally)
    content.lines_read = len(frame)
    plain = all(_is_text(column) or column.dtype.is_numeric() for column in frame)
    for line, row in enumerate(frame.iter_rows(named=True), 1):
        tally.read()
        # Dates, bytes and decimals have no form in JSON.
        of = row if plain else json.loads(json.dumps(row, default=str))
        yield Element(line, of, ", ".join("null" if cell is None else str(cell) for cell in row.values())[:MAX_RAW])


def write_parquet_objects(objects: Sequence[Mapping[str, Any]], names: Sequence[str], stream: BinaryIO) -> Written:
    """Write objects as rows, with the named columns and those of later names that any object has."""
    import polars

    present = {name for one in objects for name in one}
    columns = [*names[:2], *(name for name in names[2:] if name in present)]
    data = {name: [one.get(name) for one in objects] for name in columns}
    schema = None if objects else dict.fromkeys(columns, polars.String)
    polars.DataFrame(data, schema=schema, strict=False).write_parquet(stream)
    return Written(len(objects))


def parquet_columns(content: Content, tally: Tally, known: Known, value: str) -> Iterator[PairColumns]:
    """Yield the columns of a well-formed file."""
    import numpy as np

    from assay.formats.pair_columns import PairColumns

    frame = _frame(content, tally, known, value, {})
    if value not in frame.columns or not len(frame) or any(frame[name].null_count() for name in frame.columns):
        raise NeedsCare
    values = frame[value].to_numpy().astype(np.float64)
    if not np.isfinite(values).all():
        raise NeedsCare
    ranks = frame["rank"].to_numpy().astype(np.float64) if "rank" in frame.columns else None
    query_ids, doc_ids = _ids(frame["query_id"]), _ids(frame["doc_id"])
    tally.read(len(frame))
    tally.put("accepted", len(frame))
    yield PairColumns(query_ids, doc_ids, values, ranks, np.arange(len(frame)) + 1)


def _frame(content: Content, tally: Tally, known: Known, value: str, mapping: Mapping[str, str]) -> polars.DataFrame:
    if unknown := next((column for column in mapping if column not in known), None):
        raise NotValid(f"unknown column {unknown!r}; the format reads {', '.join(known)}", "columns")
    if not content.parquet:
        tally.refuse("does not begin like a Parquet file")
    import polars

    whole = _decoded(content.binary(), tally)
    content.lines_read = len(whole)
    names = _names(whole, tally, known, value, mapping)
    frame = whole.select(polars.col(name).alias(column) for column, name in names.items())
    texts = [polars.col(name).cast(polars.String) for name in frame.columns if _is_text(frame[name])]
    decimals = [polars.col(name).cast(polars.Float64) for name in frame.columns if frame[name].dtype.is_decimal()]
    return frame.with_columns(*texts, *decimals)


def _decoded(data: bytes, tally: Tally) -> polars.DataFrame:
    """Decode a file in a separate process, because polars crashes on some damaged files, and a small file may expand to
    any size; neither may affect a server."""
    import polars

    # The command is our own constant; the file is only its input.
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", DECODE, str(MOST_MEMORY)],
        input=data,
        capture_output=True,
        check=False,
        env={**os.environ, "POLARS_MAX_THREADS": "2"},
    )
    if done.returncode:
        error_output = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        reason = error_output.partition(": ")[2][:200] if done.returncode == 1 else ""
        reason = reason or "its content cannot be decoded"
        tally.refuse(f"is a damaged Parquet file, or one of an unknown kind ({reason})", expected="write it again")
    return polars.read_ipc_stream(done.stdout)


def _names(
    frame: polars.DataFrame, tally: Tally, known: Known, value: str, mapping: Mapping[str, str]
) -> dict[str, str]:
    """Return the file's column for each field, and report unknown and renamed columns."""
    folded = {name.casefold(): name for name in frame.columns}
    names: dict[str, str] = {}
    for column, others in known.items():
        wanted = [mapping[column].casefold()] if column in mapping else [column, *others]
        match = next((folded[name] for name in wanted if name in folded and folded[name] not in names.values()), None)
        if match is not None:
            names[column] = match
        elif mapping.get(column):
            tally.refuse(f"has no column {mapping[column]!r}, to which {column} is mapped", expected=NAMED, code="F04")
    number = value if value in names or "rank" not in names else "rank"
    for column in ("query_id", "doc_id", number):
        if column not in names:
            column_list = ", ".join(frame.columns[:20]) or "none"
            expected = f"add the column, or map another (columns: {column}=NAME)"
            tally.refuse(f"has no column {column}; it has {column_list}", expected=expected, code="F04")
    for column, name in names.items():
        _check_type(frame[name], column, tally)
        if name not in (column, *RANX):
            tally.once("W47", None, f"the column {name!r}", done=f"read as {column}", column=name)
    for name in frame.columns:
        if name not in names.values() and name.casefold() not in SILENT:
            note_rest(name, None, names, known, tally, "column")
    return names


def _check_type(column: polars.Series, name: str, tally: Tally) -> None:
    text = name in ("query_id", "doc_id", "tag")
    kind = column.dtype
    if text and not (_is_text(column) or (kind.is_integer() and name != "tag")):
        expected = "expected strings; write the ids as strings"
    elif not text and not kind.is_numeric():
        expected = "expected numbers; write the column as numbers"
    else:
        return
    tally.refuse(f"the column {column.name} contains {kind}", expected=expected, code="F04")


def _is_text(column: polars.Series) -> bool:
    import polars

    return column.dtype in (polars.String, polars.Categorical, polars.Enum)


def _ids(column: polars.Series) -> Texts:
    """Return a column of ids without an object for each."""
    import numpy as np

    from assay.core.text_column import WORD, Texts, padded
    from assay.core.text_rules import MAX_LENGTH
    from assay.formats.pair_columns import refuse_odd_ids

    if column.dtype.is_integer():
        raise NeedsCare
    sizes = column.str.len_bytes().to_numpy().astype(np.int64)
    data = str(column.str.join("").item()).encode()
    buffer = padded(data)
    if not data.isascii() or (buffer[:-WORD] < ord(" ")).any() or (buffer == DELETE).any():
        refuse_odd_ids(column.unique().to_list())
    elif not 0 < int(sizes.min()) <= int(sizes.max()) <= MAX_LENGTH:
        raise NeedsCare
    ends = np.cumsum(sizes)
    return Texts(buffer, ends - sizes, ends)
