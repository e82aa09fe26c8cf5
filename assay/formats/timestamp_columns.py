"""Parse the times of many searches at once, in the forms that logs commonly use.

The results equal those of `assay.formats.timestamps` for each text, which also parses times in other forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.formats.log_blocks import NO_TIME, microseconds
from assay.formats.timestamps import EPOCHS, time_kind

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars

    Whole = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

# The usual form of a time: the format for polars, and the smallest and largest character at each position.
PATTERN = "%Y-%m-%dT%H:%M:%SZ"
LEAST, MOST = b"1000-00-00T00:00:00Z", b"9999-19-39T29:59:59Z"
# Amount processed at once, so that it stays in the processor cache: texts per row, and rows.
TEXTS, ROWS = 256, 32
_ISO = (
    r"^(?:19|20)[0-9]{2}-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-5][0-9]:[0-5][0-9](?:\.[0-9]{3}|\.[0-9]{6})?"
    r"(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])?$"
)
_ZONE = r"(?:Z|[+-][0-9]{2}:[0-9]{2})$"


def usual_times(texts: polars.Series | None, number: int) -> tuple[Whole, polars.Series | None]:
    """Return the `moment` and the `times` of `PlainLines` for these texts."""
    import numpy as np

    if texts is None:
        return np.full(number, NO_TIME), None
    usual = (texts.str.len_bytes() == len(LEAST)).fill_null(False)
    if usual.all():
        usual = _written_out(texts)
    else:
        usual = usual.scatter(usual.arg_true(), _written_out(texts.filter(usual)))
    parsed = (texts if usual.all() else texts.set(~usual, None)).str.to_datetime(PATTERN, time_unit="us", strict=False)
    moment: Whole = parsed.to_physical().fill_null(NO_TIME).to_numpy()
    return moment, texts.set(parsed.is_not_null(), None) if parsed.null_count() else None


def _written_out(texts: polars.Series) -> polars.Series:
    """Return whether each text has a digit at each digit position of a time; polars would also accept blanks."""
    import numpy as np
    import polars as pl

    # Many texts per row, padded to full rows, because numpy is slow on short rows.
    filled = texts.str.join("").item().encode() + LEAST * (-len(texts) % TEXTS)
    least, most = (np.frombuffer(bound * TEXTS, dtype=np.uint8) for bound in (LEAST, MOST))
    signs = np.frombuffer(filled, dtype=np.uint8).reshape(-1, len(least))
    good = np.ones(len(signs) * TEXTS, dtype=np.bool_)
    for begin in range(0, len(signs), ROWS):
        # Values below the minimum wrap around to large numbers.
        above: Flags = signs[begin : begin + ROWS] - least > most - least
        if above.any():
            begins = begin * TEXTS
            good[begins : begins + above.size // len(LEAST)] = ~above.reshape(-1, len(LEAST)).any(axis=1)
    return pl.Series(good[: len(texts)])


def other_times(texts: polars.Series) -> tuple[Whole, Flags, dict[str, int]]:
    """Return the microseconds of times in any form, which texts are not times, and the first position of each kind.
    A blank text is a missing time, not an error, and yields `NO_TIME`.
    """
    import numpy as np
    import polars as pl

    first: dict[str, int] = {}
    microseconds = pl.Series([None] * len(texts), dtype=pl.Int64)
    for kind, (digits, each) in EPOCHS.items():
        numbers = texts.set(~texts.str.contains(rf"^[0-9]{{{digits}}}$"), None).cast(pl.Int64)
        microseconds = microseconds.fill_null(numbers * (1_000_000 // each))
        _note_first(first, kind, numbers.is_not_null())
    iso = texts.set(~texts.str.contains(_ISO), None)
    if iso.null_count() < len(iso):
        whole = iso.str.replace(" ", "T", literal=True).str.replace("Z$", "+00:00")
        zoned = iso.str.contains(_ZONE).fill_null(True)
        whole = whole.set(~zoned, None).fill_null(whole + "+00:00")
        parsed = whole.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%:z", time_unit="us", time_zone="UTC", strict=False)
        _note_first(first, "iso", parsed.is_not_null() & zoned)
        _note_first(first, "local", parsed.is_not_null() & ~zoned)
        microseconds = microseconds.fill_null(parsed.to_physical())
    moments: Whole = microseconds.fill_null(NO_TIME).to_numpy().copy()
    bad = np.zeros(len(moments), dtype=np.bool_)
    left = np.flatnonzero(microseconds.is_null().to_numpy())
    rest = texts.gather(left).str.strip_chars().to_list()
    meant = {text: _meaning(text) for text in set(rest)}
    moments[left] = [meant[text][1] for text in rest]
    bad[left] = [meant[text][0] == "" for text in rest]
    for place, text in zip(left.tolist(), rest, strict=True):
        if (kind := meant[text][0]) not in ("", "none"):
            first[kind] = min(place, first.get(kind, place))
    return moments, bad, first


def _note_first(first: dict[str, int], kind: str, those: polars.Series) -> None:
    place = those.arg_max()
    if place is not None and those[place]:
        first[kind] = place


def _meaning(text: str) -> tuple[str, int]:
    """Return the kind of a time and its microseconds: "none" for an empty text, "" for an invalid one."""
    if not text:
        return "none", NO_TIME
    kind = time_kind(text)
    return (kind, microseconds(text)) if kind else ("", NO_TIME)
