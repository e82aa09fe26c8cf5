"""Growing rounds: start, stop, resume and report the choice of additional pairs.

The pool of an adaptive strategy grows with one round, by a plan that the lead sets when the round is created.
:mod:`pooling.pools.refill_job` decides which pairs are chosen, and when.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import agree, amount
from assay.strategies import STRATEGIES
from judgments.jobs import jobs
from judgments.models import Job, Round, Slot, User, audit
from judgments.rounds import rounds
from pooling.models import Pool, Refill, Run
from pooling.pools import pools

BATCH = 10
LARGEST_BATCH = 50


def archive_obstacle(run: Run) -> str:
    """Return why a run cannot be archived: an open round chooses pairs from it. Empty if it can."""
    growing = Round.objects.filter(state=Round.State.OPEN, growing=True, refill__pool__runs=run).first()
    return (
        f"Round {growing} still chooses pairs from this run. First close the round or stop choosing pairs."
        if growing
        else ""
    )


@transaction.atomic
def begin(
    pool: Pool,
    *,
    actor: User,
    most_pairs: int,
    batch: int = BATCH,
    pairs_per_query: int | None = None,
    residual: int = 0,
    **options: Any,
) -> Round:
    """Create a draft round that starts with the pool's pairs and gets more pairs once it is open."""
    plan = {"batch": batch, "most_pairs": most_pairs, "pairs_per_query": pairs_per_query, "residual": residual}
    _check(pool, **plan)
    round_ = pools.make_round(pool, actor=actor, plan=plan, most_pairs=most_pairs, **options)
    # Strategies read the runs in the order of their names, so a renamed run keeps its position.
    pool.summary |= {"run_names": {str(run.uuid): run.name for run in pool.runs.all()}}
    pool.save(update_fields=["summary"])
    title = f"Choose the next pairs of {round_}"
    job = jobs.start("refill", title=title, parameters={}, collection=pool.collection, actor=actor)
    refill = Refill.objects.create(
        round=round_, pool=pool, batch=batch, pairs_per_query=pairs_per_query, residual=residual, job=job
    )
    Job.objects.filter(pk=job.pk).update(parameters={"refill": str(refill.uuid)})
    sentence = (
        f"{actor} set round {round_} to choose additional pairs by {pool.strategy}, up to {amount(most_pairs, 'pair')}"
    )
    audit.record("refill.begin", sentence, actor=actor, collection=pool.collection, target=round_, seed=pool.seed)
    return round_


def can_grow(pool: Pool) -> bool:
    """Return whether a round over this pool can choose additional pairs."""
    if pool.strategy not in STRATEGIES or not STRATEGIES[pool.strategy].adaptive:
        return False
    return not pool.parameters.get("residual") and not Refill.objects.filter(pool=pool).exists()


def _check(pool: Pool, *, batch: int, most_pairs: int, pairs_per_query: int | None, residual: int) -> None:
    if pool.strategy not in STRATEGIES or not STRATEGIES[pool.strategy].adaptive:
        learning = ", ".join(name for name in STRATEGIES if STRATEGIES[name].adaptive)
        message = f"{pool.strategy} does not learn from judgments. Create the pool with one of {learning}."
        raise NotValid(message, "pool")
    if pool.parameters.get("residual"):
        message = "This pool already has a residual stratum. Create the pool without one, and request it for the round."
        raise NotValid(message, "residual")
    if not 1 <= batch <= LARGEST_BATCH:
        raise NotValid(
            f"{batch} is not a valid batch size.", {"batch": f"Enter a whole number from 1 to {LARGEST_BATCH}."}
        )
    queries = pool.entries.order_by().values("query").distinct().count()
    first, last = pool.entries.count(), residual * queries
    if most_pairs <= first + last:
        of = f"{amount(first, 'pair is', 'pairs are')} already chosen" + (
            f" and {amount(last, 'is', 'are')} reserved for the residual stratum" if last else ""
        )
        raise NotValid(f"{of}, so a total of {most_pairs:,} leaves nothing to choose.", "most_pairs")
    if pairs_per_query is not None and pairs_per_query * queries <= first:
        message = (
            f"{amount(first, 'pair')} of {amount(queries, 'query', 'queries')} {agree(first, 'is', 'are')} already "
            f"chosen, so {pairs_per_query:,} per query leaves nothing to choose."
        )
        raise NotValid(message, "pairs_per_query")
    earlier = Refill.objects.filter(pool=pool).select_related("round").first()
    if earlier is not None:
        raise Conflict(f"{earlier.round} already adds pairs to this pool. Create another pool for another round.")


def stop(refill: Refill, *, actor: User) -> None:
    """Stop choosing pairs. The round stays open; the residual stratum is still drawn."""
    with transaction.atomic():
        row = Refill.objects.select_for_update(of=("self",)).select_related("round", "job").get(pk=refill.pk)
        if row.ended or not row.round.growing:
            raise Conflict(f"The pairs of {row.round} are already complete.")
        Refill.objects.filter(pk=row.pk).update(ended=Refill.End.STOPPED)
        if not row.residual:
            rounds.stop_growing(row.round, why=Refill.End.STOPPED.label, actor=actor)
        elif row.job:
            jobs.again(row.job)
        sentence = f"{actor} stopped choosing pairs for round {row.round}"
        audit.record("refill.stop", sentence, actor=actor, collection=row.pool.collection, target=row.round)


def resume(refill: Refill, *, actor: User) -> None:
    """Queue the job again after it failed or was canceled."""
    row = Refill.objects.select_related("round", "job", "pool__collection").get(pk=refill.pk)
    if not row.round.growing:
        raise Conflict(f"The pairs of {row.round} are complete.")
    if row.job is None or not jobs.again(row.job):
        raise Conflict("The next pairs are already being chosen.")
    sentence = f"{actor} resumed choosing pairs for round {row.round}"
    audit.record("refill.resume", sentence, actor=actor, collection=row.pool.collection, target=row.round)


# Actions of a lead, by the names that pages and API use.
ACTS = {"go-on": resume, "stop": stop}


def status(round_: Round) -> dict[str, Any] | None:
    """Return the state of the choice of pairs as a dict; None for a round with fixed pairs."""
    row = Refill.objects.select_related("round", "pool", "job").filter(round=round_).first()
    if row is None:
        return None
    state, reason = _state(row)
    pairs = row.round.pairs.count()
    open_pairs = Slot.objects.filter(round=round_, filled_by__isnull=True).values("pair").distinct().count()
    return {
        "state": state,
        "reason": reason,
        "strategy": row.pool.strategy,
        "batch": row.batch,
        "pairs_per_query": row.pairs_per_query,
        "residual": row.residual,
        "most_pairs": row.round.most_pairs,
        "pairs": pairs,
        "judged": pairs - open_pairs,
        "steps": row.asked.count(),
        "job": str(row.job.uuid) if row.job else None,
    }


def _state(row: Refill) -> tuple[str, str]:
    """Return the state, and a sentence if it needs one."""
    if row.round.state == Round.State.DRAFT:
        return "waiting", "the round is not open yet"
    if not row.round.growing:
        why = Refill.End(row.ended).label if row.ended else "the round is closed"
        return "complete", why
    job = row.job
    if job is None or job.state in (Job.State.FAILED, Job.State.CRASHED, Job.State.CANCELLED):
        return "stopped", job.error if job else "its job was deleted"
    if job.state in (Job.State.QUEUED, Job.State.RUNNING):
        return "choosing", ""
    return "ahead", "raters have enough pairs; more pairs are chosen as raters grade"
