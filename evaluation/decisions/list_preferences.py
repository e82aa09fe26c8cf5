"""List against list: stakeholders compare whole result lists, blind and mirrored, beside the graded verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from assay.core.errors import Conflict, NotValid
from evaluation.decisions import decisions
from evaluation.models import Candidate, Decision, ListJudge, ListPreference
from judgments.models import Document, Query, Round, RoundRater, User, audit

VALUES = {"candidate": 1.0, "same": 0.0, "baseline": -1.0}


@dataclass(frozen=True)
class Shown:
    """A query with its two lists, without the systems' names."""

    candidate: Candidate
    query: Query
    candidate_left: bool
    left: Sequence[Document]
    right: Sequence[Document]
    done: int
    planned: int

    @property
    def number(self) -> int:
        return self.done + 1


@dataclass(frozen=True)
class Summary:
    """The preferences for a candidate: the mean over queries from -1, the baseline, to 1, the candidate."""

    people: int
    queries: int
    candidate: int
    same: int
    baseline: int
    mean: float | None
    low: float | None
    high: float | None


def seen_by(round_: Round, users: Sequence[User]) -> set[int]:
    """Return the users who compared lists of a query of the round."""
    judges = ListJudge.objects.filter(user__in=users, decision__collection=round_.collection_id)
    ids: set[int] = set()
    for judge in judges.select_related("decision"):
        if judge.decision.round_id == round_.pk or _share_queries(judge.decision, round_):
            ids.add(judge.user_id)
    return ids


def _share_queries(decision: Decision, round_: Round) -> bool:
    of_round = set(round_.pairs.order_by().values_list("query__query_id", flat=True).distinct())
    return not of_round.isdisjoint(decision.order)


@transaction.atomic
def join(decision: Decision, user: User) -> ListJudge:
    """Let a member compare lists, unless they may still grade documents of these queries; joining twice is fine."""
    if (there := decision.list_judges.filter(user=user).first()) is not None:
        return there
    if decision.round is None:
        raise Conflict("All lists of this decision are identical, so there is nothing to compare.")
    assignments = RoundRater.objects.filter(user=user, left_at__isnull=True, round__collection=decision.collection)
    for row in assignments.exclude(round__state=Round.State.CLOSED).select_related("round"):
        if _share_queries(decision, row.round):
            raise Conflict(
                f"You rate documents of these queries in the round {row.round}. Lists would reveal their ranks, so you "
                "can compare them only after the round is closed."
            )
    judge = ListJudge.objects.create(decision=decision, user=user)
    audit.record(
        "list_preferences.join",
        f"{user} began to compare lists of the decision {decision}",
        actor=user,
        target=decision,
    )
    return judge


def next_lists(judge: ListJudge) -> Shown | None:
    """Return the next query that the judge has not compared, in the order of the decision; None at the end."""
    decision = judge.decision
    before = decisions.lists_of(decision, decision.baseline)
    had = set(judge.preferences.values_list("candidate", "query__query_id"))
    work = [
        (candidate, query_id)
        for candidate in decision.candidates.select_related("run")
        for query_id in decision.order
        if decisions.lists_of(decision, candidate.run)[query_id] != before[query_id]
    ]
    left = next(((candidate, query_id) for candidate, query_id in work if (candidate.pk, query_id) not in had), None)
    if left is None:
        return None
    candidate, query_id = left
    after = decisions.lists_of(decision, candidate.run)
    mirrored = candidate_left(judge, candidate, query_id)
    lists = (after[query_id], before[query_id]) if mirrored else (before[query_id], after[query_id])
    documents = {
        row.doc_id: row
        for row in Document.objects.filter(
            collection=decision.collection, doc_id__in={*lists[0], *lists[1]}
        ).select_related("collection")
    }
    query = Query.objects.get(collection=decision.collection, query_id=query_id)
    first, second = ([documents[one] for one in ranking if one in documents] for ranking in lists)
    return Shown(candidate, query, mirrored, first, second, len(had), len(work))


def candidate_left(judge: ListJudge, candidate: Candidate, query_id: str) -> bool:
    """Return the side of the candidate, drawn from the decision's seed for each person and query."""
    text = f"{judge.decision.seed} sides {judge.user_id} {candidate.pk} {query_id}"
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 0


@transaction.atomic
def prefer(judge: ListJudge, candidate: Candidate, query: Query, *, side: str) -> ListPreference:
    """Record a preference for a side, ``left``, ``right`` or ``same``; a new one replaces an earlier one."""
    if side not in ("left", "right", "same"):
        raise NotValid("Choose a list, or that both are equally good.", {"side": "left, right or same"})
    if query.query_id not in judge.decision.order:
        raise NotValid("This query is not part of the decision.", {"query": "Reload the page."})
    mirrored = candidate_left(judge, candidate, query.query_id)
    chosen = "same" if side == "same" else "candidate" if (side == "left") == mirrored else "baseline"
    judge.preferences.filter(candidate=candidate, query=query).delete()
    return ListPreference.objects.create(
        judge=judge, candidate=candidate, query=query, choice=chosen, candidate_left=mirrored
    )


@transaction.atomic
def undo(judge: ListJudge) -> None:
    """Forget the judge's newest preference, so that its lists are shown again."""
    newest = judge.preferences.select_for_update().order_by("-pk").first()
    if newest is None:
        raise Conflict("There is no preference to undo.")
    newest.delete()


def summary(decision: Decision, candidate: Candidate) -> Summary | None:
    """Return the preferences for a candidate with an interval of their mean over queries; None without any."""
    from assay.sequential.decide import decide_differences

    newest: dict[tuple[int, int], tuple[str, str]] = {}
    rows = ListPreference.objects.filter(candidate=candidate).order_by("pk")
    for judge, query, query_id, choice in rows.values_list("judge", "query", "query__query_id", "choice"):
        newest[judge, query] = (query_id, choice)
    if not newest:
        return None
    by_query: dict[str, list[float]] = {}
    for query_id, choice in newest.values():
        by_query.setdefault(query_id, []).append(VALUES[choice])
    ordered = [query_id for query_id in decision.order if query_id in by_query]
    means = [sum(by_query[one]) / len(by_query[one]) for one in ordered]
    last = decide_differences(means, method="betting", alpha=decision.alpha, forecast=False).trace[-1]
    choices = [choice for _, choice in newest.values()]
    return Summary(
        len({judge for judge, _ in newest}),
        len(by_query),
        choices.count("candidate"),
        choices.count("same"),
        choices.count("baseline"),
        last.mean,
        last.low,
        last.high,
    )


def page_context(judge: ListJudge | None) -> dict[str, Any]:
    """Return the context of the page: the next lists, or None before the judge has begun and at the end."""
    shown = next_lists(judge) if judge else None
    return {"judge": judge, "shown": shown, "done": judge.preferences.count() if judge else 0}
