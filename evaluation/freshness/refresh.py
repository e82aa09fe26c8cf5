"""Refresh pools: draw the pairs that make stale labels fresh again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.urls import reverse

from assay.core.errors import NotValid
from assay.staleness import actions, rank_eval
from assay.staleness.actions import ACTIONS, Action, Pair
from assay.staleness.changed_documents import changed_documents
from assay.staleness.facts import DEPTH, Facts, Known, Missing
from assay.staleness.unjudged_documents import first_ones
from evaluation.freshness.facts import Looked, Watch
from judgments.jobs import jobs
from judgments.members import recorded_changes
from judgments.models import Declaration, Job, Snapshot, User
from pooling.models import Pool, Run
from pooling.pools import pools
from pooling.runs import runs as stored_runs
from pooling.runs.known_pairs import judged_pairs

KIND = "refresh"
# Reading more rows would keep a page waiting.
ROWS_AT_ONCE = 400_000
# What asks for runs of the systems as they are since.
DECLARED = {"repool": Declaration.Kind.EMBEDDING, "repool-overlap": Declaration.Kind.SCHEMA}
SEED = 1


def runs_for(snapshot: Snapshot, action: str) -> list[Run]:
    """The runs that an act reads: all of the collection, or those that came since the change that it answers."""
    rows = snapshot.collection.runs.active().defer("report", "health")
    kind = DECLARED.get(action)
    newest = recorded_changes.standing(snapshot.collection, kind).first() if kind else None
    return list(rows.filter(created_at__gte=newest.happened_at) if newest else rows)


def too_large(snapshot: Snapshot, action: str) -> bool:
    """Whether the act should be a job."""
    return sum(run.rows for run in runs_for(snapshot, action)) > ROWS_AT_ONCE


def refresh(
    snapshot: Snapshot,
    *,
    action: str,
    actor: User,
    seed: int = SEED,
    token: UUID | str | None = None,
    watch: Watch = lambda done, total: None,
) -> Pool:
    """Draw the pool that a signal asks for.

    Parameters
    ----------
    snapshot : Snapshot
        Whose labels are to be made fresh.
    action : str
        One of `ACTIONS` that makes a pool.
    actor : User
        The lead who does it.
    seed : int
        Of the overlap that is rated once more; stored with the pool.
    token : UUID, optional
        Asked twice with one token, the pool is drawn once.
    watch : callable
        Told how many runs of how many are read.

    Raises
    ------
    NotValid
        No such act, no runs since the change, or no pair is left to judge.
    """
    return _draw(snapshot, _plan(snapshot, action, seed, watch), actor, token)


@dataclass(frozen=True)
class Plan:
    """What is drawn: read and chosen before anything is written."""

    action: Action
    runs: Sequence[Run]
    seed: int
    pairs: Sequence[Pair]  # none: all that the runs return first

    @property
    def how(self) -> dict[str, Any]:
        if self.pairs:
            return {"strategy": "list", "parameters": {"pairs": list(self.pairs)}}
        return {"strategy": "depth", "parameters": {"depth": DEPTH}}


def _plan(snapshot: Snapshot, action: str, seed: int, watch: Watch) -> Plan:
    known = [one.name for one in ACTIONS.values() if one.pools]
    if action not in known:
        raise NotValid(f"No action {action!r} creates a pool.", {"action": f"One of {', '.join(known)}."})
    runs = runs_for(snapshot, action)
    if ACTIONS[action].since and not runs:
        raise NotValid(
            "No run was added since that change. Add the results of the changed systems, then create the pool.",
            {"action": "Add runs of today's systems first."},
        )
    pairs = [] if action == "repool" else _pairs(snapshot, action, runs, seed, watch)
    if action != "repool" and not pairs:
        raise NotValid(f"No pairs need judging: {_nothing(action)}")
    return Plan(ACTIONS[action], runs, seed, pairs)


def reason_for(snapshot: Snapshot, action: str) -> str:
    """What stands with the pool."""
    return f"freshness of {snapshot}: {ACTIONS[action].title.lower()}"


def made(snapshot: Snapshot, action: str) -> Pool | None:
    """The newest pool that was drawn for this act on this snapshot's labels."""
    return snapshot.collection.pools.filter(parameters__reason=reason_for(snapshot, action)).first()


def _draw(snapshot: Snapshot, plan: Plan, actor: User, token: UUID | str | None) -> Pool:
    return pools.draw_pool(
        snapshot.collection,
        runs=plan.runs,
        seed=plan.seed,
        by="score",
        reason=reason_for(snapshot, plan.action.name),
        actor=actor,
        token=token,
        **plan.how,
    )


def refresh_later(snapshot: Snapshot, *, action: str, actor: User, seed: int = SEED) -> Job:
    """The same as a job, for runs that take longer than a request should."""
    parameters = {"snapshot": str(snapshot.uuid), "action": action, "seed": seed}
    title = f"{ACTIONS[action].title}: pool for {snapshot}"
    return jobs.start(KIND, title=title, parameters=parameters, collection=snapshot.collection, actor=actor)


def work_on_refresh(work: jobs.Work) -> dict[str, Any]:
    """The job behind :func:`refresh_later`; the pool and that it is there are stored as one."""
    job = work.job
    if job.result:
        return job.result
    snapshot = Snapshot.objects.select_related("collection").get(uuid=job.parameters["snapshot"])
    work.progress(0)
    # Read before the transaction, which would keep others from writing and hide how far it is.
    plan = _plan(snapshot, job.parameters["action"], job.parameters["seed"], work.progress)
    with transaction.atomic():
        pool = _draw(snapshot, plan, job.created_by, job.uuid)
        page = f"{reverse('round_new', args=[job.collection.slug])}?pool={pool.uuid}"
        return work.keep({"pool": str(pool.uuid), "pairs": pool.entries.count(), "page": page})


def _pairs(snapshot: Snapshot, action: str, runs: Sequence[Run], seed: int, watch: Watch) -> list[Pair]:
    looked = Looked(snapshot)
    judged = [(query_id, doc_id) for query_id, grades in looked.judged.items() for doc_id in grades]
    if action == "overlap":
        return actions.overlap(judged, seed)
    if action == "judge-changed":
        looked.whole = True  # who asks for this pool waits for it
        sides = (Known(hashes=looked.hashes), Known(hashes=looked.hashes_now))
        changed = changed_documents(Facts(*sides))
        return [] if isinstance(changed, Missing) else actions.with_documents(judged, changed)
    open_ = _open(looked, runs, watch)
    if action == "judge-new":
        return actions.with_documents(open_, _new_documents(snapshot))
    return open_ + actions.overlap(judged, seed) if action == "repool-overlap" else open_


def _open(looked: Looked, runs: Sequence[Run], watch: Watch) -> list[Pair]:
    """Unjudged pairs among the first ranks of runs and of engines' replies, less those that were graded since."""
    holes = dict.fromkeys(actions.holes(looked.judged, _rankings(looked, runs, watch)))
    since = judged_pairs(looked.collection)
    return [pair for pair in holes if pair not in since]


def _rankings(looked: Looked, runs: Sequence[Run], watch: Watch) -> Iterable[tuple[str, list[str]]]:
    for done, run in enumerate(runs):
        watch(done, len(runs))
        yield from first_ones(stored_runs.ranked(run))
    for row in looked.replies.values():
        yield from ((query_id, list(doc_ids)) for query_id, doc_ids in rank_eval.of(row.data).unrated.items())


def _new_documents(snapshot: Snapshot) -> set[str]:
    rows = snapshot.collection.documents.filter(created_at__gt=snapshot.created_at)
    return set(rows.values_list("doc_id", flat=True))


def _nothing(action: str) -> str:
    return {
        "judge-new": f"no run returns a newer document in its first {DEPTH}.",
        "judge-changed": "no judged document changed.",
    }.get(action, f"all first {DEPTH} documents of the runs are judged.")
