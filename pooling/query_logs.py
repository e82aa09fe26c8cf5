"""Import of query logs, and draws of queries from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import IO, Any, overload
from uuid import UUID

from django import forms
from django.db import IntegrityError, transaction

from judgments import audit, jobs, storage
from judgments.access import LEADS
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotValid
from judgments.core.redaction import redact
from judgments.core.report import Report
from judgments.formats.log_blocks import open_log
from judgments.formats.rows import LogRow
from judgments.import_kinds import Checked, Finding, ImportKind
from judgments.models import Collection, Job, Query, QuerySample, Upload, User
from pooling import kept_log
from pooling.drawn_queries import add, put_on_record, sampled
from pooling.log_traffic import Progress, Traffic, counted, rows_in, usual
from pooling.models import QueryLog
from pooling.sampling.counted import WINDOW_DAYS, CountedLog
from pooling.sampling.draw import STRATIFIED
from pooling.sampling.forms import doubtful
from pooling.sampling.log_columns import count_stream
from pooling.sampling.queries import LogQuery, texts_of
from pooling.sampling.tiers import cut_tiers

# What the field advises for a start: 200-400 queries in all, most of the care on the head.
DEFAULT_SIZES = {"head": 50, "torso": 100, "tail": 50}
# What forms and API take at most: queries of one tier, days of a window.
MOST_QUERIES = 100_000
LONGEST_WINDOW = 36_500
MOST_RANKS = 2**31 - 1
# A column with more values than that holds something else.
MOST_LANGUAGES = 100
# The confirmation that a log is one although every query in it counts once.
SINGLE = "single_counts"
SHOWN_LANGUAGES = 10
# How many queries that may hold personal data are listed with the report.
SHOWN_DOUBTFUL = 100


class Searches(Sequence[LogRow]):
    """The searches of a log: all of them counted, the first of them at hand."""

    HOLDS = ("_first", "_number", "log", "traffic")

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
    stream.seek(0)
    first = rows_in(stream, upload, found.first_lines)
    clean = tuple(replace(odd, raw=redact(odd.raw)[0], what=redact(odd.what)[0]) for odd in found.report.problems)
    return Searches(log, list(first.values()), found.report.accepted), replace(found.report, problems=clean)


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
        figures[f"language {redact(tag)[0]}"] = number
    for kind, number in counted.redacted.items():
        figures[f"personal data taken out: {kind}"] = number
    places = doubtful(texts_of(counted.queries))
    if places:
        figures["queries that may hold an e-mail address"] = len(places)
    if upload.pk:
        # It is about to be stored: counting once more here keeps nobody from writing meanwhile.
        rows.traffic = usual(rows.log, upload)
    return Checked(rows, [_doubt(counted.queries[place]) for place in places[:SHOWN_DOUBTFUL]], figures)


def _doubt(query: LogQuery) -> Finding:
    """What a person has to decide: nothing tells "jobs at example.com" from an address."""
    line = query.raw if isinstance(query.raw, int) else None
    fix = "read it; if it is an address, take it out of the file and upload that"
    return Finding(line, "W56", query.text, "this may be an e-mail address in disguise", "kept", fix)


def single(figures: Mapping[str, Any]) -> bool:
    """Whether every query of a log counts once: it may be a list of queries, or its column of counts was not read."""
    return bool(figures) and figures["searches"] == figures["distinct queries"] > 1


def questions(upload: Upload) -> dict[str, Any]:
    """What is asked of a log that says nothing of traffic."""
    if not single(upload.preview.get("figures", {})):
        return {}
    text = "If a column holds counts, go back and name it. If this is a list of queries, store it as queries."
    label = "Every query of this file counts once, and it is a log all the same"
    return {SINGLE: forms.BooleanField(label=label, help_text=text, error_messages={"required": text})}


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Keep the searches, without what could name a person; queries are drawn later, as often as needed."""
    figures = checked.figures
    if single(figures) and not options.get(SINGLE):
        said = "Every query of this file counts once: it says nothing of traffic."
        raise NotValid(f"{said} Confirm that it is a log, or name its column of counts.", {SINGLE: "Confirm it."})
    if checked.kept is None:
        raise AssertionError("a log is written anew before it is stored")
    languages = list(checked.rows.log.languages.items())[:MOST_LANGUAGES]
    path, format = checked.kept
    log = QueryLog.objects.create(
        collection=collection,
        name=str(options.get("name") or upload.filename)[:200],
        format=format,
        options=kept_log.OPTIONS[format],
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
            "languages": [[redact(tag)[0], number] for tag, number in languages],
            "traffic": asdict(checked.rows.traffic or usual(checked.rows.log, upload)),
        },
        created_by=actor,
    )
    return {"rows": len(checked.rows), "id": str(log.uuid), "name": log.name}


def prepare(checked: Checked, upload: Upload, *, progress: Progress | None = None) -> Checked:
    """Write the log anew, without what could name a person."""
    counted: CountedLog = checked.rows.log  # type: ignore[attr-defined]
    kept = kept_log.keep(upload, counted=counted.searches != counted.rows, progress=progress)
    return replace(checked, kept=kept)


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
    token: UUID | str | None = None,
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
    token : UUID, optional
        What the draw is to be called. Asked twice with one token, as by a double click, it is drawn once; the second
        answer names no new query.
    **cuts
        Where the tiers are cut: ``head_share`` and ``torso_share``, or ``head_ranks`` and ``torso_ranks``, as
        `pooling.sampling.tiers.cut_tiers` takes them.

    Returns
    -------
    tuple of QuerySample and list of Query
        The draw on record, and the queries that are new in the collection.
    """
    if earlier := _drawn(log, token):
        return earlier, []
    if log.collection.strata.exists():
        said = "This collection has strata. Add what you draw as a stratum of its own, with its share of the traffic."
        raise Conflict(said)
    frame = counted(log, window_days=window_days, language=language) if frame is None else frame
    if not frame.queries:
        raise NotValid(
            f"{log} has no query within {amount(window_days or 0, 'day')} of its last day.",
            {"window_days": "Widen it."},
        )
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
    design = {"method": method, "seed": seed, "parameters": parameters, "frame": frame, "tiers": tiers}
    try:
        with transaction.atomic():
            record = put_on_record(log, token=token, **design)
            queries = add(log, record, sample)
            sentence = f"{actor} drew {amount(len(sample.queries), 'query', 'queries')} from {log}, seed {seed}"
            audit.record("query_logs.draw", sentence, actor=actor, collection=log.collection, target=record)
    except IntegrityError as error:
        if earlier := _drawn(log, token):  # another request with this token was through a moment ago
            return earlier, []
        if token and QuerySample.objects.filter(uuid=token).exists():
            raise Conflict("This token has another draw. Send one of your own making.") from None
        raise Conflict("Somebody else added queries at the same moment. Draw again.") from error
    return record, queries


def _drawn(log: QueryLog, token: UUID | str | None) -> QuerySample | None:
    known = QuerySample.objects.filter(collection=log.collection, log_sha256=log.sha256)
    return known.filter(uuid=token).first() if token else None


def draw_later(log: QueryLog, *, actor: User, **options: Any) -> Job:
    """The same as a job, for a log that takes longer than a request should; with one token twice it is one job."""
    token = options.pop("token", None)
    waiting = Job.objects.filter(collection=log.collection, kind="draw", parameters__options__token=str(token))
    if token and (earlier := waiting.first()):
        return earlier
    options |= {"token": str(token)} if token else {}
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


QUERY_LOGS = ImportKind(
    name="query-logs",
    title="Query log",
    format_kind="query-log",
    default_format="query-log-csv",
    check=check,
    store=store,
    roles=LEADS,
    columns=("query", "count", "timestamp"),
    asks=("name", SINGLE),
    questions=questions,
    read=read,
    watched=True,
    prepare=prepare,
    personal=True,
)
