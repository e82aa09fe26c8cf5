"""The eight steps of a collection's overview, each with its state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.urls import reverse

from assay.coefficients.gate import GateAnswer
from assay.core.text_rules import amount
from evaluation.overview.collection_state import Standing
from judgments.models import AuditRow, Collection, Round
from judgments.web.figures import percent

# How long the navigation may lag behind raters. Actions of leads and engineers show at once.
LAG = 15


@dataclass(frozen=True)
class Step:
    """One step of the overview: its URL, and its state as a key (``done doing todo warn fail``) and in words."""

    key: str
    name: str
    url: str
    state: str
    words: str


State = tuple[str, str]


def steps(collection: Collection, user: Any) -> list[Step]:
    """Return the eight steps with their states, cheaply enough for every page."""
    stages: list[Step] = cache.get_or_set(_key(collection), lambda: steps_of(Standing(collection)), LAG)
    return stages


def refresh(standing: Standing) -> list[Step]:
    """Return the steps from facts that a page has just read, so that navigation and page show the same."""
    stages = steps_of(standing)
    cache.set(_key(standing.collection), stages, LAG)
    return stages


def _key(collection: Collection) -> str:
    newest = AuditRow.objects.filter(collection=collection).values_list("pk", flat=True).first()
    return f"steps:{collection.uuid}:{newest}"


def steps_of(standing: Standing) -> list[Step]:
    """Compute the steps from a collection's facts."""
    slug = standing.collection.slug
    return [
        Step(key, name, _step_address(key, page, slug, standing), *state(standing)) for key, name, page, state in STEPS
    ]


def _step_address(key: str, page: str, slug: str, standing: Standing) -> str:
    if key == "agreement":
        round_ = standing.judged_round
        return reverse("round_agreement", args=[round_.uuid]) if round_ else reverse("rounds", args=[slug])
    return reverse(page, args=[slug])


def queries_state(standing: Standing) -> State:
    if standing.queries.total:
        return "done", amount(standing.queries.total, "query", "queries")
    return ("doing", "log imported, no queries drawn yet") if standing.logs else ("todo", "needs a query log")


def runs_state(standing: Standing) -> State:
    if standing.runs:
        return "done", amount(len(standing.runs), "run")
    return "todo", "needs rankings of your systems"


def pool_state(standing: Standing) -> State:
    if standing.pool is None:
        return "todo", "needs runs or a list of pairs"
    return "done", amount(standing.pool.summary.get("pairs", 0), "pair")


def round_state(standing: Standing) -> State:
    round_ = standing.round
    if round_ is None:
        return "todo", "needs a pool, guidelines and a rater"
    if round_.state == Round.State.DRAFT:
        return "doing", f"{round_} is a draft"
    filled = standing.filled
    if filled.full:
        return "done", f"all {amount(filled.wanted, 'rating')} of {round_}"
    if round_.state == Round.State.CLOSED:
        return "done", f"{round_} was closed with {percent(filled.share)} of its ratings"
    if filled.growing:
        return "doing", f"{percent(filled.share)} of the pairs chosen so far in {round_}"
    return "doing", f"{percent(filled.share)} of the ratings of {round_}"


def agreement_state(standing: Standing) -> State:
    if standing.judged_round is None:
        return "todo", "needs ratings"
    answer = standing.stored_gate
    if answer is None or answer.value is None:
        one = standing.judged_round.ratings_per_pair == 1
        return ("warn" if one or standing.judged_filled.full else "todo"), "not defined"
    # No number, because it might reveal a grade to leads who still rate; everyone sees the same steps.
    state, word, _ = gate_says(answer)
    return state, word


def snapshot_state(standing: Standing) -> State:
    if standing.snapshot is None:
        judged = standing.judged_round is not None and standing.judged_filled.filled
        return "todo", "no snapshot yet" if judged else "needs judgments"
    if standing.judged_round is not None and not standing.judged_round_is_frozen:
        return "doing", f"{standing.judged_round} is not frozen yet"
    return "done", str(standing.snapshot)


def scores_state(standing: Standing) -> State:
    if standing.snapshot is None or not standing.runs:
        return "todo", "needs a snapshot and runs"
    if standing.unscored:
        scored = len(standing.scorings)
        words = f"{scored} of {amount(len(standing.runs), 'run')} scored on {standing.snapshot}"
        return ("doing" if scored else "todo"), words
    return "done", f"{amount(len(standing.scorings), 'run')} scored on {standing.snapshot}"


def freshness_state(standing: Standing) -> State:
    fresh = standing.stored_fresh
    if fresh is None:
        return "todo", "needs a snapshot"
    asking = fresh.report.asking
    return fresh.state, f"{fresh.word}: {asking[0].signal.title.lower()}" if asking else fresh.word


# Key, title, name of the page, and the function that returns the state.
STEPS: tuple[tuple[str, str, str, Callable[[Standing], State]], ...] = (
    ("queries", "Queries", "queries", queries_state),
    ("runs", "Runs", "runs", runs_state),
    ("pool", "Pool", "pools", pool_state),
    ("round", "Round", "rounds", round_state),
    ("agreement", "Agreement", "rounds", agreement_state),
    ("snapshot", "Snapshot", "snapshots", snapshot_state),
    ("scores", "Scores", "scores", scores_state),
    ("freshness", "Freshness", "freshness", freshness_state),
)

# The gate's result: state, word, and meaning.
VERDICTS: dict[str, tuple[str, str, str]] = {
    "passed": ("done", "passed", "the whole interval is above the gate"),
    "undecided": ("warn", "undecided", "the gate is inside the interval"),
    "failed": ("fail", "failed", "the whole interval is below the gate"),
    "undefined": ("warn", "undecided", "the coefficient is not defined"),
}


def gate_says(answer: GateAnswer) -> tuple[str, str, str]:
    """Return the gate's result as the round's own page shows it; too little overlap makes it undecided."""
    state, word, why = VERDICTS[answer.state]
    if answer.state != "undecided" or not answer.little:
        return state, word, why
    return state, f"{word}, too little overlap", "too few pairs or queries have two grades"
