"""Import of query logs, and draws of queries from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import IO, Any, overload
from uuid import UUID

from django import forms
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction

from assay.core.errors import Conflict, NotValid
from assay.core.read_report import Report
from assay.core.redaction import redact
from assay.core.text_rules import amount
from assay.formats.log_blocks import open_log
from assay.formats.row_types import LogRow
from assay.sampling.column_counting import count_stream
from assay.sampling.counted_log import WINDOW_DAYS, CountedLog
from assay.sampling.draw import STRATIFIED
from assay.sampling.query_normalization import doubtful
from assay.sampling.query_table import LogQuery, texts_of
from assay.sampling.tiers import cut_tiers
from judgments.imports.kinds import Checked, Finding, ImportKind, stored_as
from judgments.jobs import jobs
from judgments.models import Collection, Job, Query, QuerySample, Upload, User, audit
from judgments.web.access import LEADS
from pooling.logs import stored_log
from pooling.logs.drawn_queries import add, record_draw, sampled
from pooling.logs.traffic import Progress, Traffic, counted, rows_in, usual
from pooling.models import QueryLog

# Common advice for a first set: 200-400 queries in total, more of them from the head.
DEFAULT_SIZES = {"head": 50, "torso": 100, "tail": 50}
# Limits of forms and API: queries per tier, and days of a window.
MOST_QUERIES = 100_000
LONGEST_WINDOW = 36_500
MOST_RANKS = 2**31 - 1
# A language column with more values than this does not contain languages.
MOST_LANGUAGES = 100
# The confirmation that a file is a log although every query in it occurs once.
SINGLE = "single_counts"
SHOWN_LANGUAGES = 10
# The number of queries with possible personal data that the report lists.
SHOWN_DOUBTFUL = 100


class Searches(Sequence[LogRow]):
    """The searches of a log: all of them counted, with the first ones available as rows."""

    HOLDS = ("_first", "_number", "log", "traffic")

    def __init__(self, log: CountedLog, first: list[LogRow], number: int) -> None:
        self.log, self._first, self._number = log, first, number
        # The traffic with the default settings, if it was counted already.
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
    """Count a log while it is read, so that a log of any size fits into memory."""
    opened = open_log(stream, path=upload.filename, format=upload.format, **upload.options)
    log = count_stream(opened, window_days=None, progress=progress)
    if opened.report is None:
        raise AssertionError("a fully read log has a report")
    stream.seek(0)
    first = rows_in(stream, upload, opened.first_lines)
    clean = tuple(replace(odd, raw=redact(odd.raw)[0], what=redact(odd.what)[0]) for odd in opened.report.problems)
    return Searches(log, list(first.values()), opened.report.accepted), replace(opened.report, problems=clean)


def check(collection: Collection, rows: Searches, upload: Upload) -> Checked:
    """Count the log; refuse a file that was imported already."""
    earlier = collection.query_logs.filter(sha256=upload.sha256).first()
    if earlier is not None:
        raise Conflict(f"{upload.filename} is already stored as the query log {earlier}. Nothing was stored again.")
    counted = rows.log
    figures: dict[str, Any] = {"searches": counted.searches, "distinct queries": len(counted.queries)}
    if counted.first and counted.last:
        figures["first"], figures["last"] = counted.first.isoformat(), counted.last.isoformat()
    for reason, number in counted.dropped.items():
        figures[f"left out: {reason}"] = number
    for tag, number in list(counted.languages.items())[:SHOWN_LANGUAGES]:
        figures[f"language {redact(tag)[0]}"] = number
    for kind, number in counted.redacted.items():
        figures[f"personal data removed: {kind}"] = number
    places = doubtful(texts_of(counted.queries))
    if places:
        figures["queries that may contain an email address"] = len(places)
    if upload.pk:
        # Counted before the transaction, so that other users do not wait for it.
        rows.traffic = usual(rows.log, upload)
    return Checked(rows, [_doubt(counted.queries[place]) for place in places[:SHOWN_DOUBTFUL]], figures)


def _doubt(query: LogQuery) -> Finding:
    """Return an issue for a person to decide, because no rule distinguishes "jobs at example.com" from an address."""
    line = query.raw if isinstance(query.raw, int) else None
    fix = "Check this query. If it contains an address, remove it from the file and import the file again."
    return Finding(line, "W56", query.text, "this may be a disguised email address", "kept", fix)


def single(figures: Mapping[str, Any]) -> bool:
    """Return whether every query occurs once: it may be a list of queries, or its column of counts is not mapped."""
    return bool(figures) and figures["searches"] == figures["distinct queries"] > 1


def questions(upload: Upload) -> dict[str, Any]:
    """Return the confirmation that a log without traffic needs."""
    if not single(upload.preview.get("figures", {})):
        return {}
    text = "If a column contains counts, go back and map it. If this is a list of queries, import it as queries."
    label = "This is a log in which every query occurs once"
    return {SINGLE: forms.BooleanField(label=label, help_text=text, error_messages={"required": text})}


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Store the searches without personal data; queries can be drawn from them any number of times."""
    figures = checked.figures
    if single(figures) and not options.get(SINGLE):
        message = "Every query occurs once in this file, so the file contains no traffic data."
        raise NotValid(
            f"{message} Confirm that the file is a log, or map its column of counts.",
            {SINGLE: "Confirm that this file is a log."},
        )
    if checked.stored is None:
        raise AssertionError("a log is rewritten before it is stored")
    languages = list(checked.rows.log.languages.items())[:MOST_LANGUAGES]
    path, format = checked.stored
    log = QueryLog.objects.create(
        collection=collection,
        name=str(options.get("name") or upload.filename)[:200],
        format=format,
        options=stored_log.OPTIONS[format],
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
            # A list, because databases do not preserve the order of JSON keys.
            "languages": [[redact(tag)[0], number] for tag, number in languages],
            "traffic": asdict(checked.rows.traffic or usual(checked.rows.log, upload)),
        },
        created_by=actor,
    )
    return {"rows": len(checked.rows), "id": str(log.uuid), "name": log.name}


def prepare(checked: Checked, upload: Upload, *, progress: Progress | None = None) -> Checked:
    """Rewrite the log without personal data."""
    counted: CountedLog = checked.rows.log  # type: ignore[attr-defined]
    written = stored_log.rewrite(upload, counted=counted.searches != counted.rows, progress=progress)
    return replace(checked, stored=written)


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
    """Draw queries from a log into the collection, each with tier, inclusion probability, weight and one raw row."""
    if earlier := _drawn(log, token):
        return earlier, []
    if log.collection.strata.exists():
        message = "This collection has strata. Add the draw as a new stratum with its share of the traffic."
        raise Conflict(message)
    frame = counted(log, window_days=window_days, language=language) if frame is None else frame
    if not frame.queries:
        raise NotValid(
            f"{log} has no query within the last {amount(window_days or 0, 'day')}.",
            {"window_days": "Enter more days."},
        )
    tiers = cut_tiers(frame.queries, **cuts)
    sample = sampled(tiers, method, sizes or DEFAULT_SIZES, n, seed)
    parameters = {
        "asked": sample.requested,
        "head_share": tiers.head_share,
        "torso_share": tiers.torso_share,
        "window_days": window_days if frame.first else None,
        **({} if language is None else {"language": language}),
        **({} if tiers.head_ranks is None else {"head_ranks": tiers.head_ranks, "torso_ranks": tiers.torso_ranks}),
    }
    design = {"method": method, "seed": seed, "parameters": parameters, "frame": frame, "tiers": tiers}
    try:
        with transaction.atomic():
            record = record_draw(log, token=token, **design)
            queries = add(log, record, sample)
            sentence = f"{actor} drew {amount(len(sample.queries), 'query', 'queries')} from {log}, seed {seed}"
            audit.record("query_logs.draw", sentence, actor=actor, collection=log.collection, target=record)
    except IntegrityError as error:
        if earlier := _drawn(log, token):  # a concurrent request with this token was faster
            return earlier, []
        if token and QuerySample.objects.filter(uuid=token).exists():
            raise Conflict("This token belongs to another draw. Send a new token.") from None
        raise Conflict("Another user added queries at the same time. Draw again.") from error
    return record, queries


def _drawn(log: QueryLog, token: UUID | str | None) -> QuerySample | None:
    known = QuerySample.objects.filter(collection=log.collection, log_sha256=log.sha256)
    return known.filter(uuid=token).first() if token else None


def draw_later(log: QueryLog, *, actor: User, **options: Any) -> Job:
    """Queue a job that draws queries; requests with the same token share one job."""
    token = options.pop("token", None)
    waiting = Job.objects.filter(collection=log.collection, kind="draw", parameters__options__token=str(token))
    if token and (earlier := waiting.first()):
        return earlier
    options |= {"token": str(token)} if token else {}
    parameters = {"log": str(log.uuid), "options": options}
    title = f"Draw queries from {log}"
    return jobs.start("draw", title=title, parameters=parameters, collection=log.collection, actor=actor)


def work_on_draw(work: jobs.Work) -> dict[str, Any]:
    """Run the draw job. The draw and its record are stored in one transaction, so a resumed job finds both."""
    log = QueryLog.objects.select_related("collection").get(uuid=work.job.parameters["log"])
    options = work.job.parameters["options"]
    scope = {name: options[name] for name in ("window_days", "language") if name in options}
    # Counting takes long, so it reports progress, can be canceled, and blocks no writer.
    frame = counted(log, **scope, progress=in_rows(work, log.report.get("rows", 0), default_storage.size(log.path)))
    with transaction.atomic():
        record, new = draw(log, actor=work.job.created_by, frame=frame, **options)
        return work.keep({"queries": record.queries.count(), "new": len(new), "seed": record.seed})


def in_rows(work: jobs.Work, rows: int, size: int) -> Progress:
    """Return a progress callback that converts bytes of a file of this size to rows."""
    work.progress(0, rows or None)
    return lambda read: work.progress(min(rows, rows * read // size) if size else 0)


QUERY_LOGS = ImportKind(
    name="query-logs",
    existing=lambda collection, sha256: stored_as(collection.query_logs, sha256),
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
