"""Distinct queries of a log of any size, counted from columns. The counts equal those of
`assay.sampling.row_counting.count_log`, without a Python object for each search. A search within the window uses at
most 24 bytes until the end of the log is known; each distinct text is normalized and redacted once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np

from assay.formats.log_blocks import EPOCH, LogBlock, LogStream, LogTexts, moment
from assay.sampling.counted_log import (
    EMPTY,
    MAX_LENGTH,
    NO_TIME,
    OUTSIDE,
    TOO_LONG,
    WINDOW_DAYS,
    CountedLog,
    check_counting,
    close_log,
)
from assay.sampling.languages import OTHER, language_matches
from assay.sampling.log_window import Counts, TextSums, WindowRows, added, counts_of, only, searches_of
from assay.sampling.query_normalization import normalized, redacted
from assay.sampling.query_table import QueryTable

# Marks of texts that are not a query: they are empty or too long.
NOTHING = -1
LONG = -2


def count_stream(
    stream: LogStream,
    *,
    window_days: int | None = WINDOW_DAYS,
    until: datetime | None = None,
    min_clients: int = 1,
    language: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> CountedLog:
    """Count a log's queries while reading it."""
    check_counting(window_days, min_clients)
    forms = _Forms()
    rows = WindowRows(window_days, None if until is None else (until - EPOCH) // timedelta(microseconds=1))
    languages = _Languages(stream.texts.languages.known, language)
    for block in stream:
        forms.take(stream.texts.known)
        rows.add(block)
        block = languages.take(block)
        rows.take(block)
        if progress is not None:
            progress(stream.bytes_read)
    forms.take(stream.texts.known)
    return _counted(forms, rows, languages, stream.empty, min_clients)


class _Forms:
    """The counted form of each distinct text: the text without personal data, and the number of its normal form."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.kinds: dict[int, tuple[str, ...]] = {}
        self.normals = LogTexts()
        self._numbers: list[Counts] = []

    def take(self, known: list[str]) -> None:
        import polars as pl

        begin = len(self.shown)
        if begin == len(known):
            return
        shown, kinds = redacted(known[begin:])
        self.shown += shown
        self.kinds.update({begin + place: place_kinds for place, place_kinds in kinds.items()})
        normals = pl.Series(normalized(shown), dtype=pl.String)
        numbers = np.where((normals == "").to_numpy(), NOTHING, LONG)
        used = ((normals != "") & (normals.str.len_chars() <= MAX_LENGTH)).to_numpy()
        numbers[used] = self.normals.codes(normals.filter(used))
        self._numbers.append(numbers)

    @property
    def normal_of(self) -> Counts:
        return np.concatenate([np.zeros(0, dtype=np.int64), *self._numbers])


class _Languages:
    """The number of searches in each language, and the filter for the requested one."""

    def __init__(self, known: list[str], requested: str | None) -> None:
        self.known, self.requested = known, requested
        self._counts = np.zeros(0, dtype=np.int64)
        self.others = 0

    def take(self, block: LogBlock) -> LogBlock:
        """Return the searches in the requested language."""
        spoken = block.language
        if spoken is not None:
            searches = np.bincount(spoken, weights=block.count, minlength=len(self.known)).astype(np.int64)
            self._counts = added(self._counts, searches)
        if self.requested is not None:
            wanted = np.array([language_matches(tag, self.requested) for tag in self.known])
            chosen = np.zeros(len(block), dtype=np.bool_) if spoken is None else wanted[spoken]
            self.others += searches_of(only(block, ~chosen))
            block = only(block, chosen)
        return block

    @property
    def counts(self) -> dict[str, int]:
        # Number 0 means no language.
        named = zip(self.known[1:], self._counts[1:].tolist(), strict=False)
        return {tag: number for tag, number in named if number}


def _counted(forms: _Forms, rows: WindowRows, languages: _Languages, empty: int, min_clients: int) -> CountedLog:
    normal_of = forms.normal_of
    window_days = None if rows.window is None else rows.window_days
    none = np.zeros(len(normal_of), dtype=np.int64)
    sums = TextSums(normal_of, counts=none.copy(), untimed=none.copy(), lines=none.copy())
    everything = none.copy()
    for part in rows.parts:
        everything += counts_of(part, len(normal_of))
    everything = added(everything, rows.outside)
    for part, untimed in rows.from_behind():
        sums.take(part, untimed)
    outside = added(none, rows.outside)
    dropped = {
        EMPTY: empty + int(everything[normal_of == NOTHING].sum()),
        TOO_LONG: int(everything[normal_of == LONG].sum()),
        NO_TIME: int(sums.untimed[normal_of >= 0].sum()),
        OUTSIDE: int(outside[normal_of >= 0].sum()),
        OTHER: languages.others,
    }
    taken_out: Counter[str] = Counter()
    for form, kinds in forms.kinds.items():
        taken_out.update(dict.fromkeys(kinds, int(sums.counts[form])))
    clients = sums.clients()
    return close_log(
        _queries(forms, sums, clients, sums.languages(languages.known)),
        rows=rows.rows + empty,
        searches=rows.searches + empty,
        dropped=dropped,
        redacted={kind: number for kind, number in taken_out.items() if number},
        span=(None if sums.first is None else moment(sums.first), None if sums.last is None else moment(sums.last)),
        window_days=window_days,
        min_clients=min_clients,
        has_clients=clients is not None,
        languages=languages.counts,
        language=languages.requested,
    )


def _queries(forms: _Forms, sums: TextSums, clients: Counts | None, languages: list[str]) -> QueryTable:
    """Return each normal form with its most frequent raw form, ties sorted by bytes."""
    import polars as pl

    used = np.flatnonzero(sums.counts)
    shown = pl.Series(forms.shown, dtype=pl.String).gather(used)
    columns = {"normal": sums.normal_of[used], "frequency": sums.counts[used], "raw": sums.lines[used]}
    # Different texts can become equal when personal data is removed.
    best = (
        pl.DataFrame({"text": shown, **columns})
        .group_by("normal", "text")
        .agg(pl.col("frequency").sum(), pl.col("raw").min())
    )
    whole = (
        best.sort("normal", "frequency", "text", descending=[False, True, False])
        .group_by("normal", maintain_order=True)
        .agg(pl.col("text", "raw").first(), pl.col("frequency").sum(), pl.len().cast(pl.Int64).alias("variants"))
    )
    client_counts = pl.lit(None, dtype=pl.Int64) if clients is None else pl.Series(clients).gather(whole["normal"])
    query = pl.Series(forms.normals.known, dtype=pl.String).gather(whole["normal"])
    spoken = pl.Series(languages, dtype=pl.String).gather(whole["normal"])
    return QueryTable(whole.with_columns(query=query, clients=client_counts, language=spoken))
