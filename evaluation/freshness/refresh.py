"""Refresh pools: pairs whose judgment makes stale labels fresh again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.urls import reverse

from assay.core.errors import NotValid
from assay.core.unjudged import DEPTH
from assay.staleness import actions, rank_eval
from assay.staleness.actions import ACTIONS, Action, Pair
from assay.staleness.changed_documents import changed_documents
from assay.staleness.signal import Facts, Known, Missing
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
# Reading more rows takes too long for a page.
ROWS_AT_ONCE = 400_000
# Actions that need runs made after the change.
DECLARED = {"repool": Declaration.Kind.EMBEDDING, "repool-overlap": Declaration.Kind.SCHEMA}
SEED = 1


def runs_for(snapshot: Snapshot, action: str) -> list[Run]:
    """Return the runs that an action reads: all of the collection, or those added since the change."""
    rows = snapshot.collection.runs.active().defer("report", "health")
    kind = DECLARED.get(action)
    newest = recorded_changes.standing(snapshot.collection, kind).first() if kind else None
    return list(rows.filter(created_at__gte=newest.happened_at) if newest else rows)


def too_large(snapshot: Snapshot, action: str) -> bool:
    """Return whether the action should be a job."""
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
    """Create the pool that a signal suggests."""
    return _draw(snapshot, _plan(snapshot, action, seed, watch), actor, token)


@dataclass(frozen=True)
class Plan:
    """Choose the pairs before anything is written."""

    action: Action
    runs: Sequence[Run]
    seed: int
    pairs: Sequence[Pair]  # None: all documents that the runs rank first

    @property
    def how(self) -> dict[str, Any]:
        if self.pairs:
            return {"strategy": "list", "parameters": {"pairs": list(self.pairs)}}
        return {"strategy": "depth", "parameters": {"depth": DEPTH}}


def _plan(snapshot: Snapshot, action: str, seed: int, watch: Watch) -> Plan:
    known = [one.name for one in ACTIONS.values() if one.pools]
    if action not in known:
        raise NotValid(f"The action {action!r} does not create a pool.", {"action": f"Use one of {', '.join(known)}."})
    runs = runs_for(snapshot, action)
    if ACTIONS[action].since and not runs:
        raise NotValid(
            "No run has been added since that change. Add runs of the changed systems, then create the pool.",
            {"action": "Add runs of the current systems first."},
        )
    pairs = [] if action == "repool" else _pairs(snapshot, action, runs, seed, watch)
    if action != "repool" and not pairs:
        raise NotValid(f"No pair needs a judgment: {_nothing(action)}")
    return Plan(ACTIONS[action], runs, seed, pairs)


def reason_for(snapshot: Snapshot, action: str) -> str:
    """Return the description stored with the pool."""
    return f"freshness of {snapshot}: {ACTIONS[action].title.lower()}"


def made(snapshot: Snapshot, action: str) -> Pool | None:
    """Return the newest pool created for this action on this snapshot."""
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
    """Create the pool in a job, for runs that take too long for a request."""
    parameters = {"snapshot": str(snapshot.uuid), "action": action, "seed": seed}
    title = f"{ACTIONS[action].title}: pool for {snapshot}"
    return jobs.start(KIND, title=title, parameters=parameters, collection=snapshot.collection, actor=actor)


def work_on_refresh(work: jobs.Work) -> dict[str, Any]:
    """Create a queued pool and store it with the job's result in one transaction."""
    job = work.job
    snapshot = Snapshot.objects.select_related("collection").get(uuid=job.parameters["snapshot"])
    work.progress(0)
    # Read before the transaction, which would block other writers and hide the progress.
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
        looked.whole = True  # a user waits for this pool
        sides = (Known(hashes=looked.hashes), Known(hashes=looked.hashes_now))
        changed = changed_documents(Facts(*sides))
        return [] if isinstance(changed, Missing) else actions.with_documents(judged, changed)
    open_ = _open(looked, runs, watch)
    if action == "judge-new":
        newer = snapshot.collection.documents.filter(created_at__gt=snapshot.created_at)
        return actions.with_documents(open_, set(newer.values_list("doc_id", flat=True)))
    return open_ + actions.overlap(judged, seed) if action == "repool-overlap" else open_


def _open(looked: Looked, runs: Sequence[Run], watch: Watch) -> list[Pair]:
    """Return unjudged pairs among the first ranks of runs and engine responses, without pairs graded since."""
    holes = dict.fromkeys(actions.holes(looked.judged, _rankings(looked, runs, watch)))
    since = judged_pairs(looked.collection)
    return [pair for pair in holes if pair not in since]


def _rankings(looked: Looked, runs: Sequence[Run], watch: Watch) -> Iterable[tuple[str, list[str]]]:
    for done, run in enumerate(runs):
        watch(done, len(runs))
        yield from first_ones(stored_runs.ranked(run))
    for row in looked.replies.values():
        yield from ((query_id, list(doc_ids)) for query_id, doc_ids in rank_eval.of(row.data).unrated.items())


def _nothing(action: str) -> str:
    return {
        "judge-new": f"no run returns a newer document in its top {DEPTH}.",
        "judge-changed": "no judged document changed.",
    }.get(action, f"the top {DEPTH} documents of all runs are judged.")
