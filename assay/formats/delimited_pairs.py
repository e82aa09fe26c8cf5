"""Fast reader of well-formed CSV and TSV files of pairs, with or without a header."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from assay.core.read_report import Tally
from assay.formats.delimited import Columns, Header, Record, read_header, usual_delimiter
from assay.formats.reader import NeedsCare, note_skipped
from assay.formats.text_lines import Content

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from assay.core.text_column import Texts
    from assay.formats.pair_columns import PairColumns
    from assay.formats.trec_lines import Fields

# Number of bytes of a file to read at once.
PIECE = 4 << 20


def table_columns(content: Content, tally: Tally, known: Columns, value: str) -> Iterator[PairColumns]:
    """Yield the columns of a well-formed file with a header, a piece at a time."""
    delimiter = usual_delimiter(content)
    places: dict[str, int] = {}
    width = 0
    for before, data in content.pieces(PIECE):
        body = data
        if not places:
            first, _, body = data.partition(b"\n")
            header = _plain_header(first, delimiter, tally, known)
            places, width = header.places, len(header.names)
            if not {"query_id", "doc_id", value} <= set(places):
                raise NeedsCare
        if body:
            block = _plain_fields(body, delimiter.encode(), width)
            yield _columns(block, places, value, before + (body is not data), tally)


def headless_columns(content: Content, tally: Tally) -> Iterator[tuple[int, Fields]]:
    """Yield (lines before, fields) of a well-formed file of three TAB-separated columns without a header, piece by
    piece."""
    for before, data in content.pieces(PIECE):
        block = _plain_fields(data, b"\t", 3)
        _count(block, before, tally)
        yield before, block


def checked_ids(block: Fields, place: int) -> Texts:
    """Return a column of ids."""
    from assay.core.text_rules import MAX_LENGTH

    ids = block.texts(place)
    if int((ids.ends - ids.starts).max()) > MAX_LENGTH:
        raise NeedsCare
    return ids


def checked_numbers(block: Fields, place: int) -> npt.NDArray[np.float64]:
    """Return a column of numbers."""
    from assay.formats.trec_lines import numbers

    values = numbers(block.texts(place))
    if values is None:
        raise NeedsCare
    return values


def _plain_header(first: bytes, delimiter: str, tally: Tally, columns: Columns) -> Header:
    text = first.decode().removesuffix("\r")
    if not text.strip() or '"' in text or "\r" in text:
        raise NeedsCare
    tally.read()
    if delimiter != ",":
        tally.once("W46", 1, f"cells are separated by {delimiter!r}", done="read with this separator")
    return read_header(Record(1, text.split(delimiter), text), tally, columns, {})


def _plain_fields(data: bytes, delimiter: bytes, width: int) -> Fields:
    """Return the cells if each is a plain word, so that the table can be split like a TREC file."""
    from assay.formats.trec_lines import split_fields

    if any(mark in data for mark in (b'"', b"'", b" ", b"\n#", b"\x0b", b"\x0c")) or data[:1] == b"#":
        raise NeedsCare
    if delimiter != b"\t":
        if b"\t" in data:
            raise NeedsCare
        data = data.replace(delimiter, b"\t")
    # An empty cell would go unnoticed, because any number of blanks separates two fields in a TREC file.
    if any(mark in data for mark in (b"\t\t", b"\n\t", b"\t\n", b"\t\r")) or b"\t" in (data[:1], data[-1:]):
        raise NeedsCare
    block = split_fields(data, width) if width >= 3 else None
    if block is None or not block.rows or len(block.wider(width)) or len(block.comments):
        raise NeedsCare
    return block


def _columns(block: Fields, places: Mapping[str, int], value: str, before: int, tally: Tally) -> PairColumns:
    from assay.formats.pair_columns import PairColumns

    ranks = checked_numbers(block, places["rank"]) if "rank" in places else None
    query_ids, doc_ids = checked_ids(block, places["query_id"]), checked_ids(block, places["doc_id"])
    values = checked_numbers(block, places[value])
    _count(block, before, tally)
    return PairColumns(query_ids, doc_ids, values, ranks, block.lines_from(before))


def _count(block: Fields, before: int, tally: Tally) -> None:
    tally.read(block.rows + len(block.blanks))
    tally.put("accepted", block.rows)
    note_skipped(tally, before, (), block.blanks)
