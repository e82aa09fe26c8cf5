"""Find the plain lines in a part of a CSV log and split them into columns.

A plain line has no quotes, the right number of cells and no apostrophe before one: polars splits all of them at once.
This module keeps no counts, so that a part can be scanned while the previous part is counted.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.formats.delimited import Header
from assay.formats.log_blocks import as_written, client_keys
from assay.formats.timestamp_columns import usual_times

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars

    Whole = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]
    Keys = npt.NDArray[np.uint64]

# Amount processed at once, so that it stays in the processor cache.
WINDOW = 1 << 18


@dataclass(frozen=True, eq=False, slots=True)
class PlainLines:
    """The plain lines of a part as columns, and the positions of the others."""

    data: bytes
    ends: Whole
    odd: Flags
    places: Whole
    query: polars.Series
    moment: Whole
    times: polars.Series | None
    client: Keys | None
    language: polars.Series | None
    written: polars.DataFrame | None = None
    count: Whole | None = None
    clients: Whole | None = None

    def line(self, at: int) -> bytes:
        """Return the line at a position, with its end."""
        return _line(self.data, self.ends, at)


def plain_lines(data: bytes, header: Header, delimiter: str, *, written: bool = False) -> PlainLines | None:
    """Split a part that ends with a line feed; None if it needs the careful reader as a whole."""
    import numpy as np
    import polars as pl

    ends, odd = _odd_lines(data, delimiter.encode(), len(header.names))
    if np.count_nonzero(odd) * 4 > len(odd) or not _stand_alone(data, ends, odd, delimiter):
        return None
    places = np.flatnonzero(~odd)
    # polars treats this character as a byte order mark at the start of its input, but it is one only at the start of
    # the file.
    while len(places) and _line(data, ends, int(places[0])).startswith(b"\xef\xbb\xbf"):
        odd[places[0]] = True
        places = places[1:]
    try:
        frame = _split(_without(data, ends, odd), header, delimiter, clicks=written)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # If polars rejects the input, the careful reader reports the problem, if any.
        return None
    if frame.height != len(places):
        return None
    columns = dict(zip(frame.columns, frame.get_columns(), strict=True))
    written_texts = as_written(columns.get("timestamp"), columns.get("clicks"), number=len(places)) if written else None
    moment, times = usual_times(columns.get("timestamp"), len(places))
    clients = client_keys(columns["client_id"]) if "client_id" in columns else None
    language = columns["language"].str.strip_chars(" \t") if "language" in columns else None
    return PlainLines(data, ends, odd, places, columns["query"], moment, times, clients, language, written_texts)


def _odd_lines(data: bytes, delimiter: bytes, width: int) -> tuple[Whole, Flags]:
    """Return the end of each line, and whether it has quotes, a wrong number of cells, or a leading apostrophe."""
    import numpy as np

    letters = np.frombuffer(data, dtype=np.uint8)
    marked = []
    for begin in range(0, len(letters), WINDOW):
        part = letters[begin : begin + WINDOW]
        marked.append(np.flatnonzero((part == ord(delimiter)) | (part == ord("\n"))) + begin)
    marks = np.concatenate(marked)
    last = np.flatnonzero(letters[marks] == ord("\n"))
    ends = marks[last]
    odd = np.diff(last, prepend=-1) != width
    if width == 1:
        odd |= np.diff(ends, prepend=-1) == 1
    if b'"' in data:
        odd[np.searchsorted(ends, np.flatnonzero(letters == ord('"')))] = True
    if b"'" in data:
        quotes = np.flatnonzero(letters == ord("'"))
        in_front = (quotes == 0) | np.isin(letters[quotes - 1], [ord(delimiter), ord("\n")])
        odd[np.searchsorted(ends, quotes[in_front])] = True
    return ends, odd


def _line(data: bytes, ends: Whole, at: int) -> bytes:
    return data[int(ends[at - 1]) + 1 if at else 0 : int(ends[at]) + 1]


def _stand_alone(data: bytes, ends: Whole, odd: Flags, delimiter: str) -> bool:
    """Return whether each unusual line is a complete record, without quotes that continue on the next line."""
    import numpy as np

    for at in np.flatnonzero(odd):
        line = _line(data, ends, int(at))
        if b'"' in line:
            try:
                next(csv.reader([line.decode()], delimiter=delimiter, strict=True), None)
            except csv.Error:
                return False
    return True


def _without(data: bytes, ends: Whole, odd: Flags) -> bytes:
    import numpy as np

    parts, begin = [], 0
    for at in np.flatnonzero(odd):
        parts.append(data[begin : int(ends[at - 1]) + 1 if at else 0])
        begin = int(ends[at]) + 1
    return b"".join([*parts, data[begin:]]) if parts else data


def _split(data: bytes, header: Header, delimiter: str, *, clicks: bool) -> polars.DataFrame:
    """Return the needed columns as texts; an empty query is an empty text, other empty cells are null."""
    import polars as pl

    places = {column: place for column, place in header.places.items() if clicks or column != "clicks"}
    if not data:
        return pl.DataFrame(schema=dict.fromkeys(places, pl.String))
    frame = pl.read_csv(
        data,
        has_header=False,
        separator=delimiter,
        quote_char=None,
        schema={str(place): pl.String for place in range(len(header.names))},
        columns=sorted(places.values()),
        low_memory=False,
    )
    return frame.select(**{column: pl.col(str(place)) for column, place in places.items()}).with_columns(
        pl.col("query").fill_null("")
    )
