"""Round reports: cached numbers over all judgments of a round.

The report of a small round is computed on request. For a large round this takes seconds, so the latest report is shown
with the state of the round at that time, and a job computes the next one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Count, F, Q, Sum
from django.utils import timezone

from assay.core.text_rules import amount
from judgments.jobs import jobs, single_flight
from judgments.models import Job, Judgment, Query, Round, RoundReport, Slot, Tally
from judgments.models.fields import rows_among
from judgments.rounds import unfillable_slots
from judgments.web import access

if TYPE_CHECKING:
    from assay.coefficients.coefficient import GradeTable, Ints

BOOTSTRAP = 1_000
KIND = "agreement"
# The maximum number of judgments to count during a request.
AT_ONCE = 20_000
# The minimum time between two reports of a large round.
PATIENCE = timedelta(minutes=1)
HOUR = 3600
# Keys that reports of older versions do not have.
COUNTED = {"called_in", "overlap_to_come", "open_kinds"}


@dataclass(frozen=True)
class Look:
    """The newest report available without waiting."""

    report: dict[str, Any] | None
    newer: int = 0
    computed_at: datetime | None = None
    job: Job | None = None

    @property
    def agreement(self) -> dict[str, Any]:
        """The agreement as ``assay agreement --format json`` prints it; all values are undefined without a report."""
        agreement: dict[str, Any] = self.report["agreement"] if self.report else waiting()
        return agreement


def events(round_: Round) -> int:
    """Return the number of events in the round, which identifies the state of its judgments."""
    return Tally.objects.filter(round=round_).aggregate(number=Sum("events"))["number"] or 0


def stored(round_: Round) -> Look:
    """Return the newest stored report without computing one; queue a job if there are newer judgments."""
    now, latest = events(round_), _latest(round_)
    if not now or (latest is not None and latest.events == now):
        return Look(latest.report if latest else None, 0, latest.computed_at if latest else None)
    recent = latest is not None and round_.state == Round.State.OPEN and timezone.now() - latest.computed_at < PATIENCE
    line = jobs.find_recent(KIND, round_.collection, _job_parameters(round_)) if recent else queue_report(round_)
    if latest is None:
        return Look(None, now, None, line)
    return Look(latest.report, abs(now - latest.events), latest.computed_at, line)


def look(round_: Round) -> Look:
    """Return the newest report available without waiting, and queue a job if there are newer judgments."""
    if events(round_) > AT_ONCE:
        return stored(round_)
    return Look(exact(round_), 0, timezone.now())


def counts(round_: Round) -> tuple[list[Any], list[Any]]:
    """Return the reasons of unrateable pairs and the progress by query; for a large round from its last report."""
    if events(round_) <= AT_ONCE and round_.slots_made <= AT_ONCE:
        return _reasons(round_), _queries(round_)
    report = look(round_).report or {}
    return report.get("unrateable", []), report.get("queries", [])


def exact(round_: Round) -> dict[str, Any]:
    """Return the report on the current state of the round, which may take long."""
    now = events(round_)
    latest = _latest(round_)
    if latest is not None and latest.events == now:
        report: dict[str, Any] = latest.report
        return report
    return single_flight.compute_once(f"round-report:{round_.uuid}:{now}", lambda: _stored(round_, now), keep=HOUR)


def _latest(round_: Round) -> RoundReport | None:
    """Return the last report, unless an older version created it without some of the current counts."""
    row = RoundReport.objects.filter(round=round_).first()
    return row if row is not None and row.report.keys() >= COUNTED else None


def _stored(round_: Round, now: int) -> dict[str, Any]:
    report = compute(round_)
    fields = {"events": now, "report": report, "computed_at": timezone.now()}
    if now:
        RoundReport.objects.update_or_create(round=round_, defaults=fields)
    return report


def compute(round_: Round) -> dict[str, Any]:
    """Compute the report from the rows."""
    from assay.coefficients.by_grade import by_query, by_tier
    from assay.coefficients.leave_one_out import without_each
    from assay.coefficients.report import agreement_report

    table, tiers, called_in, to_come = _planned_grades(round_)
    values = tuple(round_.scale.values())
    return {
        "agreement": agreement_report(table, values, bootstrap=BOOTSTRAP).as_json(),
        "by_tier": [row.as_json() for row in by_tier(table, tiers, values, resamples=BOOTSTRAP)],
        "by_query": [row.as_json() for row in by_query(table, values)],
        "without": [row.as_json() for row in without_each(table, values)],
        "unrateable": _reasons(round_),
        "queries": _queries(round_),
        "called_in": called_in,
        "overlap_to_come": to_come,
        "open_kinds": unfillable_slots.to_keep(round_),
    }


def _reasons(round_: Round) -> list[tuple[str, int]]:
    rows = Judgment.objects.current().of_round(round_).filter(state=Judgment.State.UNRATEABLE)
    counted = rows.order_by().values_list("reason").annotate(number=Count("pk"))
    named = [(reason or "no reason given", number) for reason, number in counted]
    return sorted(named, key=lambda row: (-row[1], row[0]))


def _queries(round_: Round) -> list[tuple[str, str, int, int]]:
    """Return each query of the round with its public id, the ratings wanted and the ratings given."""
    there = Count("pk", filter=Q(filled_by__isnull=False))
    slots = Slot.objects.filter(round=round_).order_by().values("pair__query").annotate(wanted=Count("pk"), there=there)
    counted = {row["pair__query"]: (row["wanted"], row["there"]) for row in slots}
    # Databases limit the number of parameters of a query.
    few = {"pk__in": counted} if len(counted) < 500 else {"collection": round_.collection_id}
    names = Query.of_any_kind.filter(**few)
    fields = names.values_list("pk", "uuid", "text")
    rows = [(str(uuid), text, *counted[pk]) for pk, uuid, text in fields if pk in counted]
    return sorted(rows, key=lambda row: (-(row[2] - row[3]), row[1], row[0]))


@cache
def waiting() -> dict[str, Any]:
    """Return a report without values, which is shown while the first one is computed."""
    from assay.coefficients.report import agreement_report
    from assay.core.ratings import Ratings

    report = agreement_report(Ratings.from_rows([]), bootstrap=0).as_json()
    for leaf in report["coefficients"].values():
        leaf["reason"] = "being_computed"
    report["grades"] = []
    report["warnings"] = []
    return report


def queue_report(round_: Round) -> Job:
    """Queue the job that computes the next report. A round has one such job, which is queued again as needed."""
    title, parameters = f"Compute the agreement of {round_}", _job_parameters(round_)
    return jobs.in_line(
        KIND, title=title, parameters=parameters, collection=round_.collection, known_by=tuple(parameters)
    )


def _job_parameters(round_: Round) -> dict[str, str]:
    return {"round": str(round_.uuid)}


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Compute the report for the state of the round at the start of the job."""
    round_ = access.existing(
        Round.objects.select_related("scale", "collection").filter(uuid=work.job.parameters["round"]),
        "This round no longer exists.",
    )
    work.say(f"counting {amount(events(round_), 'judgment')}, including changed ones")
    report = exact(round_)
    work.say(f"{amount(report['agreement']['overlap'], 'pair')} with two or more grades")
    return {"overlap": report["agreement"]["overlap"], "pairs": report["agreement"]["pairs"]}


# The number of rows to read at a time.
CHUNK = 20_000


class Planned(NamedTuple):
    """The grades from which agreement is computed, with related numbers."""

    table: GradeTable
    tiers: list[str]
    called_in: int
    overlap_to_come: int


def _planned_grades(round_: Round) -> Planned:
    """Return the counted grades of a round's planned slots."""
    import numpy as np

    from assay.coefficients.coefficient import GradeTable

    counted = Judgment.objects.counted().of_round(round_).with_origin().order_by()
    columns = ("pair__position", "pair__query_id", "rater_id", "grade", "called_in")
    rows = counted.values_list(*columns).iterator(chunk_size=CHUNK)
    flat = np.fromiter((cell for row in rows for cell in row), dtype=np.int64).reshape(-1, 5)
    called_in = int(flat[:, 4].sum())
    flat = flat[flat[:, 4] == 0]
    raters = dict(round_.raters.values_list("user_id", "pseudonym"))
    named, rater = _numbered(flat[:, 2], raters)
    keys = np.unique(flat[:, 1]).tolist()
    rows = rows_among(Query.of_any_kind.values_list("pk", "query_id", "tier"), "pk", keys)
    queries = {pk: (query_id, tier) for pk, query_id, tier in rows}
    ids, query = _numbered(flat[:, 1], {key: name for key, (name, _) in queries.items()})
    _, first, unit = np.unique(flat[:, 0], return_index=True, return_inverse=True)
    order = np.lexsort((rater, unit))
    tiers = dict(queries.values())
    table = GradeTable(named, ids, unit[order], rater[order], flat[order, 3], query[first])
    return Planned(table, [tiers[name] for name in ids], called_in, _overlap_to_come(round_, flat[:, 0]))


def _overlap_to_come(round_: Round, graded: Ints) -> int:
    """Return the number of pairs that can still get two grades; ``graded`` contains the pair of each planned grade."""
    import numpy as np

    free = Slot.objects.filter(round=round_, filled_by__isnull=True, number__lte=F("pair__ratings_wanted"))
    places = free.filter(pair__ratings_wanted__gte=2).order_by().values_list("position", flat=True)
    positions = np.fromiter(places.iterator(chunk_size=CHUNK), dtype=np.int64)
    pairs, left = np.unique(positions, return_counts=True)
    there = np.bincount(graded, minlength=int(pairs.max(initial=-1)) + 1)[pairs]
    return int(((there < 2) & (there + left >= 2)).sum())


def _numbered(keys: Ints, names: Mapping[int, str]) -> tuple[tuple[str, ...], Ints]:
    """Return the names of the keys that occur, sorted by their UTF-8 bytes, and the index of each key's name."""
    import numpy as np

    present, place = np.unique(keys, return_inverse=True)
    ordered = sorted((names[key].encode(), at) for at, key in enumerate(present.tolist()))
    number = np.empty(len(present), dtype=np.int64)
    number[[at for _, at in ordered]] = np.arange(len(present))
    return tuple(name.decode() for name, _ in ordered), number[place]
