"""How does a query log come in, and how are queries drawn from it?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from hashlib import sha256
from typing import IO, Any, overload

from django.core.cache import cache
from django.db import IntegrityError, transaction

from judgments import audit, jobs, storage
from judgments.access import LEADS
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotValid
from judgments.core.report import Report
from judgments.formats.log_blocks import open_log, rows_on_lines
from judgments.formats.rows import LogRow
from judgments.import_kinds import Checked, ImportKind
from judgments.models import Collection, Job, Query, QuerySample, Upload, User
from pooling import kept_log
from pooling.models import QueryLog
from pooling.sampling.draw import (
    PPS,
    STRATIFIED,
    Sample,
    SampledQuery,
    draw_pps,
    draw_stratified,
    effective_size,
)
from pooling.sampling.log import WINDOW_DAYS, CountedLog
from pooling.sampling.log_columns import count_stream
from pooling.sampling.redaction import redact
from pooling.sampling.tiers import HEAD_SHARE, TORSO_SHARE, Tier, TierCut, cut_tiers

DAY = 24 * 3600
CUTS = {"head_share": HEAD_SHARE, "torso_share": TORSO_SHARE}
Progress = Callable[[int], None]
# About ten seconds of counting; single searches in a table are counted five times as fast as other logs.
LARGE = 1_000_000
FASTER = 5
# What the field advises for a start: 200-400 queries in all, most of the care on the head.
DEFAULT_SIZES = {"head": 50, "torso": 100, "tail": 50}
# What a draw says about a query.
DRAWN = ("tier", "probability", "weight", "frequency", "clients", "sample", "raw_row")
# What forms and API take at most: queries of one tier, days of a window.
MOST_QUERIES = 100_000
LONGEST_WINDOW = 36_500
MOST_RANKS = 2**31 - 1
# A column with more values than that holds something else.
MOST_LANGUAGES = 100
SHOWN_LANGUAGES = 10


class Searches(Sequence[LogRow]):
    """The searches of a log: all of them counted, the first of them at hand."""

    def __init__(self, log: CountedLog, first: list[LogRow], number: int) -> None:
        self.log, self._first, self._number = log, first, number
        # The usual picture, where it was counted already.
        self.traffic: Traffic | None = None

    def __len__(self) -> int:
        return self._number

    @overload
    def __getitem__(self, at: int) -> LogRow: ...

    @overload
    def __getitem__(self, at: slice) -> list[LogRow]: ...

    def __getitem__(self, at: int | slice) -> LogRow | list[LogRow]:
        return self._first[at]


def read(stream: IO[bytes], upload: Upload, *, progress: Progress | None = None) -> tuple[Searches, Report]:
    """Count a log while it is read; a log of any size fits."""
    found = open_log(stream, path=upload.filename, format=upload.format, **upload.options)
    log = count_stream(found, window_days=None, progress=progress)
    if found.report is None:
        raise AssertionError("a log that was read has a report")
    first = _rows_on(upload, found.first_lines)
    clean = tuple(replace(odd, raw=redact(odd.raw)[0], what=redact(odd.what)[0]) for odd in found.report.problems)
    return Searches(log, list(first.values()), found.report.accepted), replace(found.report, problems=clean)


def _rows_on(log: QueryLog | Upload, lines: Iterable[int]) -> dict[int, LogRow]:
    """The rows on these lines, without what could name a person."""
    name = log.name if isinstance(log, QueryLog) else log.filename
    with storage.open_file(log.path) as stream:
        rows = rows_on_lines(stream, set(lines), path=name, format=log.format, **log.options)
    return {line: replace(row, query=redact(row.query)[0]) for line, row in sorted(rows.items())}


def check(collection: Collection, rows: Searches, upload: Upload) -> Checked:
    """Count what is in the log; a file that is here already is refused."""
    earlier = collection.query_logs.filter(sha256=upload.sha256).first()
    if earlier is not None:
        raise Conflict(f"{upload.filename} is here already, as the query log {earlier}. Nothing was stored again.")
    counted = rows.log
    figures: dict[str, Any] = {"searches": counted.searches, "distinct queries": len(counted.queries)}
    if counted.first and counted.last:
        figures["first"], figures["last"] = counted.first.isoformat(), counted.last.isoformat()
    for reason, number in counted.dropped.items():
        figures[f"left out: {reason}"] = number
    for tag, number in list(counted.languages.items())[:SHOWN_LANGUAGES]:
        figures[f"language {tag}"] = number
    for kind, number in counted.redacted.items():
        figures[f"personal data taken out: {kind}"] = number
    if upload.pk:
        # It is about to be stored: counting once more here keeps nobody from writing meanwhile.
        rows.traffic = _traffic_of(rows, upload)
    return Checked(rows, figures=figures)


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Keep the searches, without what could name a person; queries are drawn later, as often as needed."""
    figures = checked.figures
    if checked.kept is None:
        raise AssertionError("a log is written anew before it is stored")
    path, format = checked.kept
    log = QueryLog.objects.create(
        collection=collection,
        name=str(options.get("name") or upload.filename)[:200],
        format=format,
        path=path,
        sha256=upload.sha256,
        searches=figures["searches"],
        distinct=figures["distinct queries"],
        first_at=figures.get("first"),
        last_at=figures.get("last"),
        report={
            "bins": upload.report.get("bins", {}),
            "figures": figures,
            "rows": len(checked.rows),
            # A list, since a database keeps the keys of JSON in an order of its own.
            "languages": list(checked.rows.log.languages.items())[:MOST_LANGUAGES],
            "traffic": asdict(checked.rows.traffic or _traffic_of(checked.rows, upload)),
        },
        created_by=actor,
    )
    return {"rows": len(checked.rows), "id": str(log.uuid), "name": log.name}


def prepare(checked: Checked, upload: Upload, *, progress: Progress | None = None) -> Checked:
    """Write the log anew, without what could name a person."""
    counted: CountedLog = checked.rows.log  # type: ignore[attr-defined]
    kept = kept_log.keep(upload, counted=counted.searches != counted.rows, progress=progress)
    return replace(checked, kept=kept)


def counted(
    log: QueryLog,
    *,
    window_days: int | None = WINDOW_DAYS,
    language: str | None = None,
    progress: Progress | None = None,
) -> CountedLog:
    """The log's distinct queries within the window before its last day; ``progress`` is told the rows so far."""
    return _counted(log, window_days if log.first_at else None, language, progress)


def _counted(
    log: QueryLog | Upload, window_days: int | None, language: str | None = None, progress: Progress | None = None
) -> CountedLog:
    name = log.name if isinstance(log, QueryLog) else log.filename
    with storage.open_file(log.path) as stream:
        found = open_log(stream, path=name, format=log.format, **log.options)
        return count_stream(found, window_days=window_days, language=language, progress=progress)


@dataclass(frozen=True)
class Traffic:
    """A log's traffic within a window: its tiers, its curve, its first and last search (ISO 8601 or empty), and what
    was left out by which reason."""

    tiers: tuple[Tier, ...]
    curve: tuple[tuple[int, float], ...]
    first: str
    last: str
    dropped: dict[str, int]

    @property
    def searches(self) -> int:
        return sum(tier.traffic for tier in self.tiers)

    @property
    def distinct(self) -> int:
        return sum(tier.queries for tier in self.tiers)


def is_large(log: QueryLog) -> bool:
    """Whether counting the log takes longer than a page may: its draws are jobs."""
    most = LARGE * FASTER if log.format == kept_log.RAW else LARGE
    return bool(log.report.get("rows", 0) > most)


def traffic(
    log: QueryLog,
    *,
    window_days: int | None = WINDOW_DAYS,
    language: str | None = None,
    **cuts: Any,
) -> Traffic:
    """The log's tiers and curve without the queries themselves; kept, since a stored log never changes.

    Parameters
    ----------
    log : QueryLog
        The log.
    window_days, language
        As for :func:`draw`.
    **cuts
        Where the tiers are cut, as `pooling.sampling.tiers.cut_tiers` takes it.
    """
    if is_usual(log, window_days, language, cuts) and "traffic" in log.report:
        return _from_json(log.report["traffic"])
    known = sha256(json.dumps([log.path, window_days, language, cuts], sort_keys=True).encode()).hexdigest()
    found: Traffic | None = cache.get(f"traffic:{known}")
    if found is None:
        found = _seen(counted(log, window_days=window_days, language=language), **cuts)
        cache.set(f"traffic:{known}", found, DAY)
    return found


def is_usual(log: QueryLog, window_days: int | None, language: str | None, cuts: Mapping[str, Any]) -> bool:
    """Whether this is the picture that was counted when the log came in."""
    asked = {**CUTS, **{name: value for name, value in cuts.items() if value is not None}}
    return asked == CUTS and language is None and (window_days == WINDOW_DAYS or not log.first_at)


def languages(log: QueryLog) -> dict[str, int]:
    """The languages that the log names, each with its searches, the commonest first."""
    return dict(log.report.get("languages", []))


def _traffic_of(rows: Searches, upload: Upload) -> Traffic:
    """The usual picture, counted while the file is at hand."""
    return _seen(_counted(upload, WINDOW_DAYS) if rows.log.first else rows.log)


def _seen(frame: CountedLog, **cuts: Any) -> Traffic:
    tiers = cut_tiers(frame.queries, **cuts)
    days = [moment.isoformat() if moment else "" for moment in (frame.first, frame.last)]
    return Traffic(tiers.tiers, tiers.curve, *days, frame.dropped)


def _from_json(kept: dict[str, Any]) -> Traffic:
    curve = tuple((rank, share) for rank, share in kept["curve"])
    return Traffic(**{**kept, "tiers": tuple(Tier(**tier) for tier in kept["tiers"]), "curve": curve})


def draw(
    log: QueryLog,
    *,
    actor: User,
    sizes: Mapping[str, int] | None = None,
    method: str = STRATIFIED,
    n: int | None = None,
    seed: int = 1,
    window_days: int | None = WINDOW_DAYS,
    language: str | None = None,
    frame: CountedLog | None = None,
    **cuts: Any,
) -> tuple[QuerySample, list[Query]]:
    """Draw queries from a log into the collection, each with tier, inclusion probability, weight and one raw row.

    Parameters
    ----------
    log : QueryLog
        What is drawn from.
    actor : User
        The lead who does it.
    sizes : mapping of tier to int, optional
        How many of head, torso and tail, for ``stratified``.
    method : str
        ``stratified`` or ``pps``.
    n : int, optional
        How many, for ``pps``.
    seed : int
        Drawing again with it gives the same queries.
    window_days : int, optional
        Only the last so many days of the log; None for all of it.
    language : str, optional
        Only searches in this language, where the log says which are.
    frame : CountedLog, optional
        What :func:`counted` says of this window and language, if it was asked already.
    **cuts
        Where the tiers are cut: ``head_share`` and ``torso_share``, or ``head_ranks`` and ``torso_ranks``, as
        `pooling.sampling.tiers.cut_tiers` takes them.

    Returns
    -------
    tuple of QuerySample and list of Query
        The draw on record, and the queries that are new in the collection.
    """
    if log.collection.strata.exists():
        said = "This collection has strata. Add what you draw as a stratum of its own, with its share of the traffic."
        raise Conflict(said)
    frame = counted(log, window_days=window_days, language=language) if frame is None else frame
    if not frame.queries:
        raise NotValid(f"{log} has no query within {window_days} days of its last day.", {"window_days": "Widen it."})
    tiers = cut_tiers(frame.queries, **cuts)
    sample = sampled(tiers, method, sizes or DEFAULT_SIZES, n, seed)
    parameters = {
        "asked": sample.asked,
        "head_share": tiers.head_share,
        "torso_share": tiers.torso_share,
        "window_days": window_days if frame.first else None,
        **({} if language is None else {"language": language}),
        **({} if tiers.head_ranks is None else {"head_ranks": tiers.head_ranks, "torso_ranks": tiers.torso_ranks}),
    }
    with transaction.atomic():
        record = put_on_record(log, method=method, seed=seed, parameters=parameters, frame=frame, tiers=tiers)
        try:
            with transaction.atomic():
                queries = _add(log, record, sample)
        except IntegrityError as error:
            raise Conflict("Somebody else added queries at the same moment. Draw again.") from error
        sentence = f"{actor} drew {amount(len(sample.queries), 'query', 'queries')} from {log}, seed {seed}"
        audit.record("query_logs.draw", sentence, actor=actor, collection=log.collection, target=record)
    return record, queries


def draw_later(log: QueryLog, *, actor: User, **options: Any) -> Job:
    """The same as a job, for a log that takes longer than a request should."""
    parameters = {"log": str(log.uuid), "options": options}
    title = f"Draw queries from {log}"
    return jobs.start("draw", title=title, parameters=parameters, collection=log.collection, actor=actor)


def work_on_draw(work: jobs.Work) -> dict[str, Any]:
    """The job behind :func:`draw_later`. What was drawn and that it was are stored as one: a resumed job sees it."""
    if work.job.result:
        return work.job.result
    log = QueryLog.objects.select_related("collection").get(uuid=work.job.parameters["log"])
    options = work.job.parameters["options"]
    asked = {name: options[name] for name in ("window_days", "language") if name in options}
    # Counting is what takes long: it is told, it can be cancelled, and it keeps nobody from writing meanwhile.
    frame = counted(log, **asked, progress=in_rows(work, log.report.get("rows", 0), storage.size(log.path)))
    with transaction.atomic():
        record, new = draw(log, actor=work.job.created_by, frame=frame, **options)
        return work.keep({"queries": record.queries.count(), "new": len(new), "seed": record.seed})


def in_rows(work: jobs.Work, rows: int, size: int) -> Progress:
    """Tell a job how many of so many rows were read, from the bytes of a file of this size."""
    work.progress(0, rows or None)
    return lambda read: work.progress(min(rows, rows * read // size) if size else 0)


def worth(samples: Iterable[QuerySample]) -> dict[int, float]:
    """How many equally weighted queries each draw is worth, of those queries that still stand for it."""
    parts: dict[int, list[float]] = {}
    for sample, weight, probability in Query.objects.filter(
        sample__in=list(samples), weight__isnull=False, probability__isnull=False
    ).values_list("sample", "weight", "probability"):
        parts.setdefault(sample, []).append(weight / probability)
    return {sample: found for sample, of in parts.items() if (found := effective_size(of)) is not None}


def put_on_record(
    log: QueryLog, *, method: str, seed: int, parameters: dict[str, Any], frame: CountedLog, tiers: TierCut
) -> QuerySample:
    """Keep what is needed to draw again, and the frame that was drawn from."""
    return QuerySample.objects.create(
        collection=log.collection,
        log_name=log.name,
        log_sha256=log.sha256,
        method=method,
        seed=seed,
        parameters=parameters,
        frame=_frame(frame, tiers),
        curve=[list(point) for point in tiers.curve],
    )


def sampled(tiers: TierCut, method: str, sizes: Mapping[str, int], n: int | None, seed: int) -> Sample:
    """Draw by one of the two ways."""
    if method == STRATIFIED:
        return draw_stratified(tiers, sizes, seed)
    if method == PPS:
        return draw_pps(tiers, n or sum(sizes.values()), seed)
    raise NotValid(f"There is no way of drawing called {method!r}.", {"method": f"{STRATIFIED} or {PPS}"})


def _frame(frame: CountedLog, tiers: TierCut) -> dict[str, Any]:
    return {
        "distinct": len(frame.queries),
        "searches": frame.traffic,
        "first": frame.first.isoformat() if frame.first else None,
        "last": frame.last.isoformat() if frame.last else None,
        "tiers": {tier.name: {"queries": tier.queries, "searches": tier.traffic} for tier in tiers.tiers},
    }


def _add(log: QueryLog, record: QuerySample, sample: Sample) -> list[Query]:
    """The drawn queries as rows. One that is there already, by its text, keeps its id and takes the new design."""
    collection = log.collection
    raw = raw_rows(log, sample.queries)
    known = {query.text: query for query in collection.queries.all()}
    taken = set(collection.queries.values_list("query_id", flat=True))
    new: list[Query] = []
    changed: list[Query] = []
    for drawn in sample.queries:
        query = known.get(drawn.query.text)
        if query is None:
            query = Query(collection=collection, query_id=free_id(taken), text=drawn.query.text)
            new.append(query)
        else:
            changed.append(query)
        query.tier, query.probability, query.weight = drawn.tier, drawn.probability, drawn.weight
        query.frequency, query.clients, query.sample = drawn.query.frequency, drawn.query.clients, record
        query.raw_row = raw.get(drawn.query.raw)
    Query.objects.bulk_create(new, batch_size=500)
    Query.objects.bulk_update(changed, DRAWN, batch_size=500)
    return new


def raw_rows(log: QueryLog, drawn: Iterable[SampledQuery]) -> dict[object, dict[str, Any]]:
    """The one row of the log that is kept of each drawn query, by what its ``raw`` says."""
    lines = [one.query.raw for one in drawn if isinstance(one.query.raw, int)]
    return {line: row for line, found in _rows_on(log, lines).items() if (row := _raw(found)) is not None}


def free_id(taken: set[str]) -> str:
    """The next query id of the form q001 that is not taken; it is, from then on."""
    number = len(taken) + 1
    while f"q{number:03d}" in taken:
        number += 1
    taken.add(f"q{number:03d}")
    return f"q{number:03d}"


def _raw(row: Any) -> dict[str, Any] | None:
    """The one log row that is kept; a client id stays out, since the collection has no use for it."""
    if not is_dataclass(row) or isinstance(row, type):
        return None
    return {name: value for name, value in asdict(row).items() if name not in ("client_id", "line") and value != ""}


QUERY_LOGS = ImportKind(
    name="query-logs",
    title="Query log",
    format_kind="query-log",
    default_format="query-log-csv",
    check=check,
    store=store,
    roles=LEADS,
    columns=("query", "count", "timestamp"),
    asks=("name",),
    read=read,
    watched=True,
    prepare=prepare,
    personal=True,
)
