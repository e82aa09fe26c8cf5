"""The next action in a collection for one member."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.urls import reverse

from assay.core.text_rules import agree, amount
from evaluation.overview.collection_state import Standing
from evaluation.scoring import scoring
from judgments.agreement.conflicts import Open
from judgments.models import Role, Round
from judgments.rating.rater_progress import own_part
from judgments.rounds import rounds


@dataclass(frozen=True)
class Act:
    """A button with its text and URL."""

    label: str
    url: str
    lead_only: bool = False


@dataclass(frozen=True)
class Next:
    """An action with its step and its reason, which is a sentence without its first words."""

    key: str
    words: str
    act: Act


class Look:
    """A collection's facts as one member sees them."""

    def __init__(self, standing: Standing, user: Any, role: str) -> None:
        self.standing, self.user, self.role = standing, user, role
        self.slug = standing.collection.slug

    def may(self, act: Act) -> bool:
        """Return whether the member's role allows the action."""
        return self.role == Role.LEAD or not act.lead_only

    @cached_property
    def to_rate(self) -> int:
        """Return the pairs that wait for this member in the open round: their own, then further ones."""
        round_ = self.standing.round
        if round_ is None or round_.state != Round.State.OPEN or not rounds.is_rater(self.user, round_):
            return 0
        part = own_part(round_, self.user)
        return part.left or part.most

    @cached_property
    def conflicts(self) -> Open:
        """Return the open conflicts that this member may see; leads who rate do not see those they may still grade."""
        return self.standing.conflicts(self.user)


def next_act(look: Look) -> Next | None:
    """Return the first action that is due and that the member may do."""
    return next((due for due in dues(look) if look.may(due.act)), None)


def waits_for_lead(look: Look) -> Next | None:
    """Return actions that are due earlier and only a lead can do."""
    due = next(iter(dues(look)), None)
    return due if due is not None and not look.may(due.act) else None


def dues(look: Look) -> list[Next]:
    """Yield every action that is due, in the recommended order; the last one is always due."""
    return [due for find in DUES if (due := find(look)) is not None]


def queries_due(look: Look) -> Next | None:
    standing = look.standing
    if standing.queries.total:
        return None
    if standing.logs:
        act = Act("Draw queries", reverse("query_logs", args=[look.slug]), lead_only=True)
        return Next("queries", "draw head, torso and tail queries from the log.", act)
    act = Act("Import query log", reverse("query_logs_new", args=[look.slug]), lead_only=True)
    return Next("queries", "import a query log, so that the queries represent your traffic.", act)


def runs_due(look: Look) -> Next | None:
    standing = look.standing
    if standing.pool is not None or standing.rounds or len(standing.runs) > 1:
        return None
    act = Act("Add run", reverse("runs_new", args=[look.slug]))
    if not standing.runs:
        return Next("runs", "add the rankings of your systems for these queries, one run per system.", act)
    return Next("runs", "add a second system’s run. A pool from a single system favors that system.", act)


def documents_due(look: Look) -> Next | None:
    standing = look.standing
    if standing.documents or not standing.runs or standing.rounds:
        return None
    act = Act("Add documents", reverse("documents_new", args=[look.slug]), lead_only=True)
    return Next("runs", "add the documents. Otherwise, raters see only ids.", act)


def pool_due(look: Look) -> Next | None:
    standing = look.standing
    if standing.pool is not None or standing.rounds or not standing.runs:
        return None
    act = Act("Create pool", reverse("pool_new", args=[look.slug]), lead_only=True)
    return Next("pool", "create a pool of the pairs that people should judge.", act)


def round_due(look: Look) -> Next | None:
    standing = look.standing
    if standing.round is None:
        if standing.pool is None:
            return None
        url = reverse("round_new", args=[look.slug]) + f"?pool={standing.pool.uuid}"
        pairs = amount(standing.pool.summary.get("pairs", 0), "pair")
        return Next("round", f"create a round from the pool’s {pairs}.", Act("Create round", url, lead_only=True))
    if standing.round.state != Round.State.DRAFT:
        return None
    act = Act("Open round", reverse("round_progress", args=[standing.round.uuid]), lead_only=True)
    return Next("round", f"open {standing.round}, so that raters can start.", act)


def rating_due(look: Look) -> Next | None:
    if not look.to_rate:
        return None
    round_ = look.standing.round
    pairs = amount(look.to_rate, "pair")
    act = Act(f"Rate {pairs}", reverse("rate", args=[round_.uuid]))
    return Next("round", f"rate the {pairs} that {agree(look.to_rate, 'waits', 'wait')} for you in {round_}.", act)


def conflicts_due(look: Look) -> Next | None:
    if not look.conflicts.wide or look.standing.judged_round_is_frozen:
        return None
    conflicts = amount(look.conflicts.number, "conflict")
    url = reverse("conflicts", args=[look.standing.judged_round.uuid]) + "?settled=open"
    narrow = look.conflicts.number - look.conflicts.wide
    wide = f", starting with the {look.conflicts.wide:,} of two steps or more" if narrow else ""
    words = f"resolve {conflicts}{wide}. Unresolved conflicts are labeled by the label rule."
    return Next("agreement", words, Act(f"Resolve {conflicts}", url, lead_only=True))


def waiting_due(look: Look) -> Next | None:
    standing = look.standing
    if standing.round is None or standing.round.state != Round.State.OPEN or standing.filled.full:
        return None
    left = standing.filled.wanted - standing.filled.filled
    act = Act("View progress", reverse("round_progress", args=[standing.round.uuid]))
    ratings = amount(standing.filled.wanted, "rating")
    owed = f"{left:,} of {ratings} in {standing.round} {agree(left, 'is', 'are')} still missing"
    if not standing.filled.growing:
        return Next("round", f"{owed}.", act)
    more = f"pairs of {standing.round} are still being chosen, up to {standing.round.most_pairs or 0:,}"
    return Next("round", f"{owed}; {more}." if left else f"{more}.", act)


def agreement_due(look: Look) -> Next | None:
    standing = look.standing
    if standing.judged_round is None or standing.judged_round_is_frozen:
        return None
    if standing.gate is None or standing.gate.state != "failed":
        return None
    act = Act("View agreement", reverse("round_agreement", args=[standing.judged_round.uuid]))
    at = standing.gate.threshold
    words = f"agreement is below the gate of {at:.2f}. Clarify the guidelines and rate the overlap again."
    return Next("agreement", words, act)


def snapshot_due(look: Look) -> Next | None:
    standing = look.standing
    if standing.judged_round is None or standing.judged_round_is_frozen or not standing.judged_filled.filled:
        return None
    act = Act("Freeze labels", reverse("snapshot_new", args=[look.slug]), lead_only=True)
    return Next("snapshot", f"freeze the labels of {standing.judged_round} in a snapshot for evaluation.", act)


def scores_due(look: Look) -> Next | None:
    standing = look.standing
    if standing.snapshot is None:
        return None
    if not standing.runs:
        act = Act("Add run", reverse("runs_new", args=[look.slug]))
        return Next("runs", f"add a run to score on {standing.snapshot}.", act)
    left = len(standing.unscored)
    if not left:
        return None
    if scoring.under_way(standing.snapshot):
        act = Act("View scores", reverse("scores", args=[look.slug]))
        return Next("scores", f"wait while the runs are scored on {standing.snapshot}.", act)
    act = Act(f"Score {amount(left, 'run')}", reverse("scores", args=[look.slug]))
    return Next("scores", f"score {left} of {amount(len(standing.runs), 'run')} on {standing.snapshot}.", act)


def freshness_due(look: Look) -> Next | None:
    fresh = look.standing.fresh
    if fresh is None or not fresh.report.asking:
        return None
    finding = fresh.report.asking[0]
    address, name = reverse("freshness", args=[look.slug]), look.standing.snapshot
    if fresh.report.incomplete:
        return Next(
            "freshness", f"judge documents without labels in {name}: {finding.words}.", Act("View actions", address)
        )
    return Next("freshness", f"refresh {name}: {finding.words}.", Act("View stale labels", address))


def reading_due(look: Look) -> Next | None:
    scored = len(look.standing.scorings)
    words = "view the scores." if scored < 2 else f"compare {amount(scored, 'run')} on {look.standing.snapshot}."
    return Next("scores", words, Act("View scores", reverse("scores", args=[look.slug])))


DUES: tuple[Callable[[Look], Next | None], ...] = (
    queries_due,
    runs_due,
    documents_due,
    pool_due,
    round_due,
    rating_due,
    conflicts_due,
    waiting_due,
    agreement_due,
    snapshot_due,
    scores_due,
    freshness_due,
    reading_due,
)
