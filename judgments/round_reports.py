"""Round reports: numbers over all judgments of a round, computed once and kept current.

A small round's report is computed on request. A large one's takes seconds: the latest one is shown with the state of
the round that it was computed for, and a job computes the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.db.models import Count, Q, Sum
from django.utils import timezone

from judgments import computed, jobs, stranded
from judgments.core.amounts import amount
from judgments.core.errors import NotFound
from judgments.grade_tables import planned_grades
from judgments.models import Job, Judgment, Query, Round, RoundReport, Slot, Tally

BOOTSTRAP = 1_000
KIND = "agreement"
# As many answers are read and counted while somebody waits for a page.
AT_ONCE = 20_000
# While raters work a large round is counted anew this often at most.
PATIENCE = timedelta(minutes=1)
HOUR = 3600
# What reports of older versions lack.
COUNTED = {"called_in", "overlap_to_come", "open_kinds"}


@dataclass(frozen=True)
class Look:
    """The newest report that is there without waiting.

    Attributes
    ----------
    report : dict or None
        What `compute` answers; None while the first one is being made.
    newer : int
        Answers, and changes of answers, that came since.
    computed_at : datetime or None
        When.
    job : Job or None
        Who makes the next one.
    """

    report: dict[str, Any] | None
    newer: int = 0
    computed_at: datetime | None = None
    job: Job | None = None

    @property
    def agreement(self) -> dict[str, Any]:
        """The shape of ``assay agreement --format json``; every value undefined while there is no report."""
        found: dict[str, Any] = self.report["agreement"] if self.report else waiting()
        return found


def events(round_: Round) -> int:
    """How much has happened in the round: what tells one state of its judgments from another."""
    return Tally.objects.filter(round=round_).aggregate(number=Sum("events"))["number"] or 0


def stored(round_: Round) -> Look:
    """The newest report that is stored, for what stands on every page: none is computed, a newer one is put in line."""
    now, kept = events(round_), _kept(round_)
    if not now or (kept is not None and kept.events == now):
        return Look(kept.report if kept else None, 0, kept.computed_at if kept else None)
    recent = kept is not None and round_.state == Round.State.OPEN and timezone.now() - kept.computed_at < PATIENCE
    line = jobs.kept(KIND, round_.collection, _told(round_)) if recent else in_line(round_)
    if kept is None:
        return Look(None, now, None, line)
    return Look(kept.report, abs(now - kept.events), kept.computed_at, line)


def look(round_: Round) -> Look:
    """The newest report that is there without waiting; a newer one is put in line where there is something newer.

    Parameters
    ----------
    round_ : Round
        A small one's is made at once.
    """
    if events(round_) > AT_ONCE:
        return stored(round_)
    return Look(exact(round_), 0, timezone.now())


def counts(round_: Round) -> tuple[list[Any], list[Any]]:
    """Why pairs could not be judged, and how far each query is: as now, of a large round as in its last report."""
    if events(round_) <= AT_ONCE and round_.slots_made <= AT_ONCE:
        return _reasons(round_), _queries(round_)
    report = look(round_).report or {}
    return report.get("unrateable", []), report.get("queries", [])


def exact(round_: Round) -> dict[str, Any]:
    """The report on the round as it is now, however long it takes."""
    now = events(round_)
    kept = _kept(round_)
    if kept is not None and kept.events == now:
        found: dict[str, Any] = kept.report
        return found
    return computed.once(f"round-report:{round_.uuid}:{now}", lambda: _stored(round_, now), keep=HOUR)


def _kept(round_: Round) -> RoundReport | None:
    """The last report, unless it is from before something was counted that is told now."""
    found = RoundReport.objects.filter(round=round_).first()
    return found if found is not None and found.report.keys() >= COUNTED else None


def _stored(round_: Round, now: int) -> dict[str, Any]:
    report = compute(round_)
    fields = {"events": now, "report": report, "computed_at": timezone.now()}
    if now:
        RoundReport.objects.update_or_create(round=round_, defaults=fields)
    return report


def compute(round_: Round) -> dict[str, Any]:
    """Count everything, from the rows.

    Returns
    -------
    dict
        ``agreement`` in the shape of ``assay agreement --format json``; ``by_tier`` and ``by_query``, parts of it;
        ``without``, the coefficients without each rater;
        ``unrateable``, reasons with their numbers; ``queries``, each with its ratings wanted and there;
        ``called_in``, grades that are not among those compared, since they were asked for where two lay apart;
        ``overlap_to_come``, pairs that can still get their second grade;
        ``open_kinds``, of a large round the pairs that want ratings, counted by who may give none of them.
    """
    from judgments.agreement.by_group import by_query, by_tier
    from judgments.agreement.left_out import without_each
    from judgments.agreement.report import agreement_report

    table, tiers, called_in, to_come = planned_grades(round_)
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
        "open_kinds": stranded.to_keep(round_),
    }


def _reasons(round_: Round) -> list[tuple[str, int]]:
    rows = Judgment.objects.current().of_round(round_).filter(state=Judgment.State.UNRATEABLE)
    counted = rows.order_by().values_list("reason").annotate(number=Count("pk"))
    named = [(reason or "no reason given", number) for reason, number in counted]
    return sorted(named, key=lambda row: (-row[1], row[0]))


def _queries(round_: Round) -> list[tuple[str, str, int, int]]:
    """Each query of the round with its public id, its ratings wanted and there, in the order of its first pair."""
    there = Count("pk", filter=Q(filled_by__isnull=False))
    slots = Slot.objects.filter(round=round_).order_by().values("pair__query").annotate(wanted=Count("pk"), there=there)
    counted = {row["pair__query"]: (row["wanted"], row["there"]) for row in slots}
    # So many keys are more than a statement takes.
    few = {"pk__in": counted} if len(counted) < 500 else {"collection": round_.collection_id}
    names = Query.of_any_kind.filter(**few)
    told = names.values_list("pk", "uuid", "text")
    rows = [(str(uuid), text, *counted[pk]) for pk, uuid, text in told if pk in counted]
    return sorted(rows, key=lambda row: (-(row[2] - row[3]), row[1], row[0]))


@cache
def waiting() -> dict[str, Any]:
    """A report without a value: what stands where the first one is still being made."""
    from judgments.agreement.report import agreement_report
    from judgments.core.ratings import Ratings

    told = agreement_report(Ratings.from_rows([]), bootstrap=0).as_json()
    for leaf in told["coefficients"].values():
        leaf["reason"] = "being_computed"
    told["grades"] = []
    told["warnings"] = []
    return told


def in_line(round_: Round) -> Job:
    """The job that makes the next report: one row a round, queued again when there is something newer."""
    title, told = f"Count the agreement of {round_}", _told(round_)
    return jobs.in_line(KIND, title=title, parameters=told, collection=round_.collection, known_by=tuple(told))


def _told(round_: Round) -> dict[str, str]:
    return {"round": str(round_.uuid)}


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Make the report of a round as it is when the work begins."""
    round_ = Round.objects.select_related("scale", "collection").filter(uuid=work.job.parameters["round"]).first()
    if round_ is None:
        raise NotFound("The round is gone.")
    work.say(f"counting {amount(events(round_), 'answer')} and changes of answers")
    report = exact(round_)
    work.say(f"{amount(report['agreement']['overlap'], 'pair')} with two or more grades")
    return {"overlap": report["agreement"]["overlap"], "pairs": report["agreement"]["pairs"]}
