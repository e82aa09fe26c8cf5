"""Which distinct queries does a log of any size hold, counted from columns?

The same counts as `pooling.sampling.log.count_log`, without a Python object for each search. A search within the window
takes 24 bytes at most until the end of the log is known; each distinct text is normalized and redacted once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt

from judgments.formats.log_blocks import EPOCH, NO_TIME, LogBlock, LogStream, LogTexts, moment
from pooling.sampling.forms import normalized, redacted
from pooling.sampling.languages import OTHER, speaks
from pooling.sampling.log import (
    EMPTY,
    MAX_LENGTH,
    OUTSIDE,
    TOO_LONG,
    WINDOW_DAYS,
    CountedLog,
    check_counting,
    close_log,
)
from pooling.sampling.log import NO_TIME as WITHOUT_TIME
from pooling.sampling.queries import QueryTable

Counts = npt.NDArray[np.int64]

DAY = 24 * 3600 * 1_000_000
# Places of texts that are no query: nothing is left of them, or too much.
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
    """Count a log's queries while it is read.

    Parameters
    ----------
    stream : LogStream
        The log; it is read to its end here.
    window_days, until, min_clients, language
        As for `count_log`.
    progress : callable, optional
        Called with the bytes read so far after each block.

    Returns
    -------
    CountedLog
        As of `count_log`, but that the raw row of a query is the number of the line on which it stands.

    Raises
    ------
    NotValid
        When the window or the threshold is below 1, or no search is said to be in the language.
    UnreadableInput
        When the whole file is refused.
    """
    check_counting(window_days, min_clients)
    forms = _Forms()
    rows = _Rows(window_days, None if until is None else (until - EPOCH) // timedelta(microseconds=1))
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
    """What each distinct text is counted as: the text without personal data, and the number of its normal form."""

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
        self.kinds.update({begin + place: found for place, found in kinds.items()})
        normals = pl.Series(normalized(shown), dtype=pl.String)
        numbers = np.where((normals == "").to_numpy(), NOTHING, LONG)
        used = ((normals != "") & (normals.str.len_chars() <= MAX_LENGTH)).to_numpy()
        numbers[used] = self.normals.codes(normals.filter(used))
        self._numbers.append(numbers)

    @property
    def normal_of(self) -> Counts:
        return np.concatenate([np.zeros(0, dtype=np.int64), *self._numbers])


class _Languages:
    """How many searches there are in each language, and which are in the one that was asked for."""

    def __init__(self, known: list[str], asked: str | None) -> None:
        self.known, self.asked = known, asked
        self._counts = np.zeros(0, dtype=np.int64)
        self.others = 0

    def take(self, block: LogBlock) -> LogBlock:
        """The searches that are asked for."""
        spoken = block.language
        if spoken is not None:
            found = np.bincount(spoken, weights=block.count, minlength=len(self.known)).astype(np.int64)
            self._counts = _sum(self._counts, found)
        if self.asked is not None:
            wanted = np.array([speaks(tag, self.asked) for tag in self.known])
            chosen = np.zeros(len(block), dtype=np.bool_) if spoken is None else wanted[spoken]
            self.others += _searches(_only(block, ~chosen))
            block = _only(block, chosen)
        return block

    @property
    def found(self) -> dict[str, int]:
        # Number 0 is no language.
        named = zip(self.known[1:], self._counts[1:].tolist(), strict=False)
        return {tag: number for tag, number in named if number}


@dataclass(eq=False)
class _Rows:
    """The searches that may be in the window; those that are too old for what was seen already are only counted."""

    window_days: int | None
    until: int | None
    newest: int = NO_TIME
    rows: int = 0
    searches: int = 0
    parts: list[LogBlock] = field(default_factory=list)
    outside: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def add(self, block: LogBlock) -> None:
        """Count searches whether they are used or not; the newest of all is where the window ends."""
        self.rows += len(block)
        self.searches += _searches(block)
        if len(block):
            self.newest = max(self.newest, int(block.moment.max()))

    def take(self, block: LogBlock) -> None:
        if not len(block):
            return
        window = self.window
        if window is not None:
            kept = (block.moment > window[0]) & (block.moment <= window[1]) | (block.moment == NO_TIME)
            if not kept.all():
                self._leave_out(_only(block, ~kept))
                block = _only(block, kept)
        self.parts.append(block)
        if window is not None:
            # Of a log in the order of time, whole blocks fall out of the window in front as it moves on.
            for part in [part for part in self.parts if int(part.moment.max()) <= window[0]]:
                if not (part.moment == NO_TIME).any():
                    self.parts.remove(part)
                    self._leave_out(part)

    @property
    def window(self) -> tuple[int, int] | None:
        """After and until when searches count, as far as is known by now; None for all."""
        end = self.newest if self.until is None else self.until
        if self.window_days is None or end == NO_TIME:
            return None
        return end - self.window_days * DAY, end

    def _leave_out(self, block: LogBlock) -> None:
        self.outside = _sum(self.outside, _counts(block))

    def from_behind(self) -> Iterator[tuple[LogBlock, LogBlock]]:
        """The searches in the window, the last block first, and beside them those without a time if they need one."""
        window = self.window
        while self.parts:
            part = self.parts.pop()
            if window is None:
                yield part, _only(part, np.zeros(len(part), dtype=np.bool_))
                continue
            untimed = part.moment == NO_TIME
            inside = ~untimed & (part.moment > window[0]) & (part.moment <= window[1])
            self._leave_out(_only(part, ~inside & ~untimed))
            yield _only(part, inside), _only(part, untimed)


@dataclass(eq=False)
class _Sums:
    """What is known of each text once the searches in the window went by from behind."""

    normal_of: Counts
    counts: Counts
    untimed: Counts
    lines: Counts
    keys: list[npt.NDArray[np.uint64]] = field(default_factory=list)
    spoken: list[tuple[Counts, Counts]] = field(default_factory=list)
    first: int | None = None
    last: int | None = None

    @property
    def bits(self) -> np.uint64:
        """How many bits the place of a normal form takes in front of those of a client."""
        return np.uint64(max(1, (int(self.normal_of.max(initial=0)) + 1).bit_length()))

    def take(self, part: LogBlock, untimed: LogBlock) -> None:
        self.untimed += _counts(untimed, len(self.normal_of))
        part = _only(part, self.normal_of[part.text] >= 0)
        self.counts += _counts(part, len(self.normal_of))
        # The last assignment to a place stands: from behind, that is the first search with each text.
        self.lines[part.text[::-1]] = part.line[::-1]
        timed = part.moment[part.moment != NO_TIME]
        if len(timed):
            self.first = min(int(timed.min()), int(timed.min()) if self.first is None else self.first)
            self.last = max(int(timed.max()), int(timed.max()) if self.last is None else self.last)
        if part.language is not None:
            both, place = np.unique((self.normal_of[part.text] << 32) | part.language, return_inverse=True)
            self.spoken.append((both, np.bincount(place, weights=part.count).astype(np.int64)))
        if part.client is not None:
            named = part.client != 0
            keys = self.normal_of[part.text[named]].astype(np.uint64) << (np.uint64(64) - self.bits)
            self.keys.append(keys | (part.client[named] >> self.bits))

    def languages(self, known: list[str]) -> list[str]:
        """The language of most searches for each normal form, of equals the first in byte order; empty for none."""
        import polars as pl

        found = [""] * (int(self.normal_of.max(initial=-1)) + 1)
        if self.spoken:
            both, counts = (np.concatenate(column) for column in zip(*self.spoken, strict=True))
            named = both & 0xFFFFFFFF > 0
            table = (
                pl.DataFrame({"both": both[named], "count": counts[named]}).group_by("both").agg(pl.col("count").sum())
            )
            tags = pl.Series(known, dtype=pl.String).gather(table["both"].to_numpy() & 0xFFFFFFFF)
            table = table.select(pl.col("both") // (1 << 32), "count", tags.alias("tag"))
            # The last assignment stands: the most frequent, of equals the first.
            for normal, tag in table.sort("count", "tag", descending=[False, True]).select("both", "tag").iter_rows():
                found[normal] = tag
        return found

    def clients(self) -> Counts | None:
        """By how many distinct clients each normal form was asked; None when the log names none.

        A client is lost to another with the same bits at a chance of about n / 2^44 for a form that n clients asked.
        """
        if not sum(map(len, self.keys)):
            return None
        keys = np.concatenate(self.keys)
        self.keys.clear()
        keys.sort()
        fresh = np.ones(len(keys), dtype=np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
        places = (keys[fresh] >> (np.uint64(64) - self.bits)).astype(np.int64)
        return np.bincount(places, minlength=int(self.normal_of.max(initial=0)) + 1)


def _counted(forms: _Forms, rows: _Rows, languages: _Languages, empty: int, min_clients: int) -> CountedLog:
    normal_of = forms.normal_of
    window_days = None if rows.window is None else rows.window_days
    none = np.zeros(len(normal_of), dtype=np.int64)
    sums = _Sums(normal_of, counts=none.copy(), untimed=none.copy(), lines=none.copy())
    everything = none.copy()
    for part in rows.parts:
        everything += _counts(part, len(normal_of))
    everything = _sum(everything, rows.outside)
    for part, untimed in rows.from_behind():
        sums.take(part, untimed)
    outside = _sum(none, rows.outside)
    dropped = {
        EMPTY: empty + int(everything[normal_of == NOTHING].sum()),
        TOO_LONG: int(everything[normal_of == LONG].sum()),
        WITHOUT_TIME: int(sums.untimed[normal_of >= 0].sum()),
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
        languages=languages.found,
        language=languages.asked,
    )


def _queries(forms: _Forms, sums: _Sums, clients: Counts | None, languages: list[str]) -> QueryTable:
    """Each normal form with its most frequent raw form, equally frequent ones in the order of their bytes."""
    import polars as pl

    used = np.flatnonzero(sums.counts)
    shown = pl.Series(forms.shown, dtype=pl.String).gather(used)
    columns = {"normal": sums.normal_of[used], "frequency": sums.counts[used], "raw": sums.lines[used]}
    # Texts that were different can be one after personal data was taken out.
    found = (
        pl.DataFrame({"text": shown, **columns})
        .group_by("normal", "text")
        .agg(pl.col("frequency").sum(), pl.col("raw").min())
    )
    whole = (
        found.sort("normal", "frequency", "text", descending=[False, True, False])
        .group_by("normal", maintain_order=True)
        .agg(pl.col("text", "raw").first(), pl.col("frequency").sum(), pl.len().cast(pl.Int64).alias("variants"))
    )
    asked_by = pl.lit(None, dtype=pl.Int64) if clients is None else pl.Series(clients).gather(whole["normal"])
    query = pl.Series(forms.normals.known, dtype=pl.String).gather(whole["normal"])
    spoken = pl.Series(languages, dtype=pl.String).gather(whole["normal"])
    return QueryTable(whole.with_columns(query=query, clients=asked_by, language=spoken))


def _counts(block: LogBlock, size: int = 0) -> Counts:
    # Sums of counts are whole numbers in float64 up to 2^53.
    return np.bincount(block.text, weights=block.count, minlength=size).astype(np.int64)


def _searches(block: LogBlock) -> int:
    return len(block) if block.count is None else int(block.count.sum())


def _sum(some: Counts, others: Counts) -> Counts:
    """The sum of two tables of counts, of which one may not yet know the last texts."""
    found = np.zeros(max(len(some), len(others)), dtype=np.int64)
    found[: len(some)] += some
    found[: len(others)] += others
    return found


def _only(block: LogBlock, chosen: npt.NDArray[np.bool_]) -> LogBlock:
    if chosen.all():
        return block
    return LogBlock(
        block.text[chosen],
        block.moment[chosen],
        None if block.client is None else block.client[chosen],
        None if block.count is None else block.count[chosen],
        block.line[chosen],
        None if block.language is None else block.language[chosen],
    )
