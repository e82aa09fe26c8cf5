"""The state of a decision: what is judged, and the verdict that it allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.db.models import Sum

from evaluation.decisions import decisions
from evaluation.models import Decision
from judgments.labels import round_labels
from judgments.models import Adjudication, Judgment, Round, Slot, Tally
from judgments.snapshots.final_labels import Consolidation
from pooling.models import Run

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.core.run import Run as RankedRun
    from assay.sequential.decide import Decision as Outcome

LABEL_RULE = Consolidation().rule
CACHE_SECONDS = 3_600
Labels = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Judged:
    """The judged queries of a decision: all in its order up to the first that is not judged whole."""

    labels: Labels
    unrateable: frozenset[tuple[str, str]]
    queries: int  # judged, including those that need no judging
    ahead: int  # later queries that are judged whole already
    waits_for: str  # the first query that is not judged whole; empty at the end

    @property
    def judgments(self) -> int:
        return sum(map(len, self.labels.values()))


@dataclass(frozen=True)
class Standing:
    """The verdict on one candidate that the judgments allow."""

    judged: Judged
    outcome: Outcome


def state_key(round_: Round | None) -> str:
    """Return a key that changes with every answer and resolution of the round."""
    if round_ is None:
        return "none"
    events = Tally.objects.filter(round=round_).aggregate(all=Sum("events"))["all"] or 0
    resolved = Adjudication.objects.filter(pair__round=round_).order_by("-pk").values_list("pk", flat=True).first()
    slots = Round.objects.values_list("slots_made", flat=True).get(pk=round_.pk)
    return f"{round_.pk}:{events}:{resolved or 0}:{slots}"


def judged(decision: Decision) -> Judged:
    """Return what is judged so far; cached until the next answer."""
    key = f"decision-judged:{decision.pk}:{state_key(decision.round)}"
    cached: Judged = cache.get_or_set(key, lambda: _judged(decision), CACHE_SECONDS)
    return cached


def _judged(decision: Decision) -> Judged:
    if decision.round is None:
        return Judged({}, frozenset(), len(decision.order), 0, "")
    (rated,) = round_labels.read_rounds([decision.round])
    labels: dict[str, dict[str, int]] = {}
    for (query_id, doc_id), grade in round_labels.label(rated, LABEL_RULE).labels.items():
        labels.setdefault(query_id, {})[doc_id] = grade
    waiting = Slot.objects.filter(round=decision.round, filled_by__isnull=True).order_by()
    unfinished = set(waiting.values_list("pair__query__query_id", flat=True).distinct())
    reached = next((at for at, query_id in enumerate(decision.order) if query_id in unfinished), len(decision.order))
    prefix = decision.order[:reached]
    done = set(prefix)
    later = {query_id for query_id in labels if query_id not in done and query_id not in unfinished}
    return Judged(
        {query_id: labels[query_id] for query_id in prefix if query_id in labels},
        frozenset(key for key in rated.not_judged if key[0] in done),
        len(prefix),
        len(later),
        decision.order[reached] if reached < len(decision.order) else "",
    )


def standing(decision: Decision, run: Run) -> Standing:
    """Return the verdict on a candidate, computed by the function behind `assay decide`."""
    so_far = judged(decision)
    key = f"decision-outcome:{decision.pk}:{run.pk}:{state_key(decision.round)}"
    return Standing(so_far, cache.get_or_set(key, lambda: outcome_of(decision, run, so_far.labels), CACHE_SECONDS))


def rule_of(decision: Decision) -> dict[str, Any]:
    """Return the arguments of the library that say when there is a verdict."""
    return {
        "delta": decision.delta,
        "alpha": decision.alpha,
        "method": decision.method,
        "planned": decision.planned,
        "candidates": decision.candidates.count(),
    }


def outcome_of(decision: Decision, run: Run, labels: Labels) -> Outcome:
    """Return the outcome for these labels."""
    from assay.core.qrels import Qrels
    from assay.scoring.results import SamplingDesign
    from assay.sequential.decide import decide, decide_differences

    how = rule_of(decision)
    if not labels:
        identical = decisions.lists_of(decision, run) == decisions.lists_of(decision, decision.baseline)
        return decide_differences([], identical=identical, **how)
    qrels: Qrels = Qrels.from_dict({query_id: dict(of) for query_id, of in labels.items()})
    top = max(decision.round.scale.values()) if decision.round else None
    return decide(
        qrels,
        _ranked(decision, decision.baseline),
        _ranked(decision, run),
        decision.metric,
        order=decision.order,
        design=SamplingDesign(weights=decision.weights, sampled=False) if decision.weights else None,
        scale_top=float(top) if top is not None else None,
        overlap=False,
        **how,
    )


def _ranked(decision: Decision, run: Run) -> RankedRun:
    return _ranked_lists(decision.path, str(run.uuid)).named(run.name)


@lru_cache(maxsize=16)
def _ranked_lists(path: str, run: str) -> RankedRun:
    from assay.core.run import Run as RankedRun

    lists = decisions.stored_lists(path)[run]
    scored = {
        query_id: {doc_id: float(-rank) for rank, doc_id in enumerate(ranking)} for query_id, ranking in lists.items()
    }
    return RankedRun.from_dict({query_id: of for query_id, of in scored.items() if of}, name=run)


def minutes(round_: Round) -> float | None:
    """Return the time that raters spent on the counted answers of a round, in minutes; None without timings."""
    rows = Judgment.objects.counted().of_round(round_)
    seconds = rows.aggregate(all=Sum("seconds_active"))["all"]
    return None if seconds is None else seconds / 60
