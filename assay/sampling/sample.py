"""Sample of queries from a log in one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotValid
from assay.formats.row_types import LogRow

if TYPE_CHECKING:
    from assay.sampling.counted_log import CountedLog
    from assay.sampling.draw import Sample
    from assay.sampling.tiers import Tier


LOG_COLUMNS = ("query", "count", "timestamp", "client_id", "language", "clients", "query_id")


def sample(
    log: Any,
    *,
    head: int = 0,
    torso: int = 0,
    tail: int = 0,
    n: int | None = None,
    method: str = "stratified",
    format: str | None = None,
    window_days: int | None = 90,
    min_clients: int = 1,
    language: str | None = None,
    head_share: float = 0.5,
    torso_share: float = 0.8,
    single_counts: bool = False,
    seed: int = 0,
) -> Sample:
    """Draw queries from a log, each with its inclusion probability and share of the traffic.

    Parameters
    ----------
    log : path, mapping, or DataFrame
        A query log in any format; ``{query: count}``; a data frame with the column ``query`` and, if known, ``count``,
        ``timestamp``, ``client_id``, ``language``, ``clients`` and ``query_id``.
    head, torso, tail : int
        Number of queries from each tier, for ``stratified``.
    n : int, optional
        Number of queries from the whole log, for ``pps``.
    method : {"stratified", "pps"}
        By tier, or with probability proportional to the traffic.
    format : {"csv", "jsonl", "ubi"}, optional
        Format of a file; by default detected from its name, and for JSONL from its content.
    window_days : int, optional
        Number of days to use at the end of a log with times; None for all days.
    min_clients : int
        Leave out queries from fewer distinct clients, if the log has clients.
    language : str, optional
        Only searches in this language.
    head_share, torso_share : float
        Shares of traffic at which the tiers are cut.
    single_counts : bool
        Accept a log in which every query has a count of 1.
    seed : int
        Seed of the draw.

    Returns
    -------
    Sample

    Raises
    ------
    UnreadableInput
        When a file cannot be read.
    NotValid
        When the sizes do not match the method, no query is left, or every query has a count of 1.

    Examples
    --------
    >>> drawn = sample({"rain jacket": 50, "tent": 20, "stove": 10, "rope": 5}, head=1, tail=1, seed=1)
    >>> [(row["query"], row["tier"]) for row in drawn.to_rows()]
    [('rain jacket', 'head'), ('stove', 'tail')]
    """
    from assay.sampling.draw import draw_pps, draw_stratified
    from assay.sampling.tiers import cut_tiers

    sizes = {"head": head, "torso": torso, "tail": tail}
    if method == "pps" and (n is None or any(sizes.values())):
        raise NotValid("the method pps draws from the whole log; use n without head, torso or tail")
    if method == "stratified" and (n is not None or not any(sizes.values())):
        raise NotValid("the method stratified draws by tier; use head, torso or tail without n")
    if method not in ("stratified", "pps"):
        raise NotValid(f"the method must be stratified or pps, not {method!r}")
    options: dict[str, Any] = {"window_days": window_days, "min_clients": min_clients, "language": language}
    counted, own_ids = _counted(log, format, options)
    if not counted.queries:
        raise NotValid("no queries are left to sample")
    if counted.searches == len(counted.queries) > 1 and not single_counts:
        raise NotValid(
            "every query has a count of 1, so the traffic is unknown; rename the column of counts to `count`, "
            "or pass single_counts=True if the counts are correct"
        )
    cut = cut_tiers(counted.queries, head_share=head_share, torso_share=torso_share)
    drawn = draw_stratified(cut, sizes, seed) if n is None else draw_pps(cut, n, seed)
    queries = (replace(one, query_id=own_ids.get(_line(one.query.raw)) or one.query_id) for one in drawn.queries)
    return replace(drawn, queries=tuple(queries))


def _counted(log: Any, format: str | None, options: dict[str, Any]) -> tuple[CountedLog, dict[int, str]]:
    """Return the counted log, and the ids that a counted log gives its queries, by line."""
    from assay.sampling.row_counting import count_log

    if isinstance(log, str | Path):
        return _counted_file(str(log), format, options)
    rows = list(_log_rows(log))
    ids = {row.line: row.query_id for row in rows if row.query_id}
    return count_log(rows, **options), ids


def _counted_file(path: str, format: str | None, options: dict[str, Any]) -> tuple[CountedLog, dict[int, str]]:
    from assay.formats.log_blocks import open_log, rows_on_lines
    from assay.formats.reader import LOG_FORMATS, log_format
    from assay.formats.text_lines import reusable_source
    from assay.sampling.column_counting import count_stream

    if format is not None and format not in LOG_FORMATS:
        raise NotValid(f"the log format must be {', '.join(LOG_FORMATS)}, not {format!r}")
    source = reusable_source(Path(path))
    name = LOG_FORMATS[format] if format else log_format(source, path, 'format="jsonl"')
    stream = open_log(source, path=path, format=name)
    counted = count_stream(stream, **options)
    if stream.report is not None:
        stream.report.raise_if_errors()
    if counted.searches == counted.rows:
        return counted, {}
    rows = rows_on_lines(source, {_line(query.raw) for query in counted.queries}, path=path, format=name)
    return counted, {line: row.query_id for line, row in rows.items() if row.query_id}


def _log_rows(log: Any) -> Iterator[LogRow]:
    if isinstance(log, Mapping):
        for line, (query, count) in enumerate(log.items(), 1):
            yield LogRow(str(query), _count(count), line=line)
        return
    columns = getattr(log, "columns", None)
    if columns is None or "query" not in list(columns):
        names = ", ".join(map(str, () if columns is None else columns))
        given = type(log).__name__ if columns is None else f"a data frame with the columns {names}"
        raise NotValid(f"the log is {given}; use a path, a dict of counts, or a data frame with the column query")
    known = {name: log[name].to_list() for name in LOG_COLUMNS if name in list(columns)}
    for line, values in enumerate(zip(*known.values(), strict=True), 1):
        row = dict(zip(known, values, strict=True))
        yield LogRow(
            str(row["query"]),
            _count(row.get("count", 1)),
            timestamp=_text(row.get("timestamp")),
            client_id=_text(row.get("client_id")),
            line=line,
            language=_text(row.get("language")),
            clients=None if row.get("clients") is None else _count(row["clients"]),
            query_id=_text(row.get("query_id")),
        )


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _count(value: Any) -> int:
    if value is None or isinstance(value, str | bool) or value != value or value != int(value) or value < 1:
        raise NotValid(f"the count {value!r} is not a whole number of 1 or more")
    return int(value)


def _line(raw: object) -> int:
    """Return the line of a counted query, which the readers keep as its row."""
    return raw.line if isinstance(raw, LogRow) else int(str(raw))


# The median over pairs of official runs in the TREC deep learning tracks of 2019 and 2020, nDCG@10 per query.
USUAL_SD = 0.17


@dataclass(frozen=True, slots=True)
class Advice:
    """The differences between two runs that a sample can detect."""

    worth: int
    sd: float
    detectable: float
    reach: float
    difference: float | None = None
    needed: int | None = None
    reason: str = ""


def advise(worth: float | None, difference: float | None = None, sd: float = USUAL_SD) -> Advice | None:
    """Return the differences that paired t tests on a sample of this effective size can detect; None if the size is
    unknown or below two.
    """
    if worth is None or worth < 2:
        return None
    from assay.significance.power import detectable, queries_needed, reach

    size = int(worth)
    needed = None if difference is None else queries_needed(difference, sd)
    return Advice(
        size,
        sd,
        detectable(sd, size) or 0.0,
        reach(sd, size),
        difference,
        needed.queries if needed else None,
        (needed.reason or "") if needed else "",
    )


def expected_worth(tiers: Sequence[Tier], sizes: Sequence[int]) -> float | None:
    """Return the expected effective sample size of a draw by tier, before it is made.

    Examples
    --------
    >>> from assay.sampling.tiers import Tier
    >>> expected_worth([Tier("head", 2, 20, 0.5, 200), Tier("tail", 20, 20, 0.5, 20)], [2, 5])
    5.714285714285714
    """
    total, spread = 0, 0.0
    for tier, size in zip(tiers, sizes, strict=True):
        drawn = min(size, tier.queries)
        if drawn:
            if tier.squares is None:
                return None
            total += tier.traffic
            spread += tier.squares * tier.queries / drawn
    return total * total / spread if spread else None
