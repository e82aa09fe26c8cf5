"""The job that chooses the next pairs of a growing round.

The job calls the strategy whenever raters have fewer than two batches ahead, with the judgments so far, until the
budget or the strategy is exhausted. Each step is one transaction, which only one worker can commit. Each step stores
its input, so that the choice can be repeated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.db import transaction
from django.db.models import Count, F, Max, Min

from assay.core.text_rules import amount
from assay.strategies import STRATEGIES
from judgments.imports.documents import stub_keys
from judgments.jobs import jobs
from judgments.models import Document, Job, Pair, Round, Slot, audit
from judgments.rating import assignment
from judgments.rounds import rounds
from pooling.models import Pool, PoolEntry, Refill, RefillStep
from pooling.pools import duplicates
from pooling.runs import runs as stored_runs
from pooling.runs.known_pairs import known_pairs, wording

if TYPE_CHECKING:
    from assay.core.run import Run as RankedRun
    from assay.strategies.chosen_pairs import Pool as ChosenPool
    from assay.strategies.duplicates import Duplicates
    from assay.strategies.pooled_pair import PairCopy, PoolPair

# Raters have this many batches ahead, so that they do not wait while the next batch is chosen.
AHEAD = 2


@dataclass(frozen=True)
class Room:
    """The queries that can get more pairs."""

    queries: Mapping[str, int]
    judged: Mapping[str, int]
    pairs: Mapping[str, int]
    left: int
    over: str = ""


def free_room(refill: Refill) -> Room:
    """Return the queries and pairs that budget, strategy and judgments still allow."""
    counted = Pair.objects.filter(round=refill.round).order_by().values_list("query__query_id")
    rows = sorted(counted.annotate(number=Count("pk"), first=Min("position")), key=lambda row: (row[1], row[2]))
    pairs = {query_id: number for query_id, number, _ in rows}
    open_slots = Slot.objects.filter(round=refill.round, filled_by__isnull=True).order_by()
    waiting = dict(open_slots.values_list("pair__query__query_id").annotate(number=Count("pair", distinct=True)))
    judged = {query_id: number - waiting.get(query_id, 0) for query_id, number in pairs.items()}
    # The residual stratum is part of the budget and is drawn when the rest is used up.
    left = (refill.round.most_pairs or 0) - sum(pairs.values()) - refill.residual * len(pairs)
    most = refill.pairs_per_query
    free = {query_id: left if most is None else min(left, most - number) for query_id, number in pairs.items()}
    free = {query_id: number for query_id, number in free.items() if number > 0}
    if not free:
        return Room({}, judged, pairs, left, Refill.End.BUDGET)
    due = {query_id: number for query_id, number in free.items() if refill.dry.get(query_id) != judged[query_id]}
    ended = not due and not any(query_id in waiting for query_id in free)
    return Room(due, judged, pairs, left, Refill.End.STRATEGY if ended else "")


def wanted_pairs(refill: Refill) -> int:
    """Return the number of pairs missing until every active rater has two batches of their own ahead."""
    return max(0, -slack(refill))


def slack(refill: Refill) -> int:
    """Return the number of pairs beyond the raters' needs; negative if pairs are missing."""
    ahead = assignment.available_pairs(refill.round)
    if not ahead:
        return 0
    each = AHEAD * refill.batch
    at_work = max(assignment.count_active_raters(refill.round), 1)
    ratings = 1 + (refill.round.ratings_per_pair - 1) * refill.round.overlap
    shared = (assignment.free_slots(refill.round) - each * at_work) / ratings
    return min(min(ahead.values()) - each, math.floor(shared))


# The factor by which the number of queries grows when the previous queries had no pairs left.
WIDER = 4
# The number of other queries whose documents a text-reading strategy gets.
BACKGROUND = 20
# Limits for all raters of a round together: pairs per second, and seconds between two checks at most.
QUICKEST, LONGEST_LOOK = 200, 30
# The known grade by query and document; None for a pair that a rater holds.
Known = dict[str, dict[str, float | None]]


def queue_if_needed(round_: Round) -> None:
    """Queue the job if pairs are wanted. It runs after each judgment, so it must be cheap otherwise."""
    key = f"refill-enough:{round_.pk}"
    if cache.get(key):
        return
    row = Refill.objects.select_related("round", "job").filter(round=round_, round__state=Round.State.OPEN).first()
    if row is None or not row.round.growing or row.job is None or row.job.state != Job.State.DONE:
        return
    left = slack(row)
    if row.ended or (left < 0 and _may(free_room(row))):
        jobs.again(row.job)
    elif left >= QUICKEST:
        # A large first draw is counted rarely, because counting it takes as long as submitting a judgment.
        cache.set(key, True, min(left // QUICKEST, LONGEST_LOOK))


def queue_all() -> None:
    """Check every growing round from time to time, in case a wake-up was lost."""
    for row in Refill.objects.filter(round__state=Round.State.OPEN, round__growing=True).select_related("round"):
        queue_if_needed(row.round)


def _may(room: Room) -> bool:
    return bool(room.over or room.queries)


def work_on_refill(work: jobs.Work) -> dict[str, Any]:
    """Run the job step by step until raters have enough pairs ahead. It can be killed between any two statements."""
    refill = Refill.objects.get(uuid=work.job.parameters["refill"])
    spread, before = 1, refill.round.pairs.count()
    while True:
        work.progress(refill.round.pairs.count())
        added = choose_next(refill, spread=spread)
        if added is None:
            return {"pairs": refill.round.pairs.count() - before}
        spread = 1 if added else spread * WIDER


def choose_next(refill: Refill, *, spread: int = 1) -> int | None:
    """Run the strategy once, and append its pairs."""
    refill = Refill.objects.select_related("round", "pool__collection").get(pk=refill.pk)
    if refill.round.state != Round.State.OPEN or not refill.round.growing:
        return None
    room = free_room(refill)
    if refill.ended or room.over:
        _finish(refill, refill.ended or room.over)
        return None
    wanted = wanted_pairs(refill)
    if not wanted or not room.queries:
        return None
    needed = spread * -(-wanted // refill.batch)
    requested = list(room.queries)[:needed]
    known = _known(refill, requested)
    shown = [*requested, *_background(refill.pool, room, requested)]
    chosen = _chosen(refill, shown, known)
    if _attach_copies(refill, chosen, requested):
        return 0
    return _append(refill, room, chosen, {query_id: known.get(query_id, {}) for query_id in shown}, requested, wanted)


def _background(pool: Pool, room: Room, requested: Sequence[str]) -> list[str]:
    """Return some other queries, from which a text-reading strategy learns the usual words."""
    if not STRATEGIES[pool.strategy].reads:
        return []
    return sorted(room.pairs.keys() - set(requested))[:BACKGROUND]


def _known(refill: Refill, queries: Sequence[str]) -> Known:
    """Return the known grades of these queries; open pairs of the round have None."""
    own = Pair.objects.filter(round=refill.round, query__query_id__in=queries)
    rows = list(own.values_list("query__query_id", "document__doc_id", "origin"))
    known: Known = {query_id: {} for query_id in queries}
    for query_id, doc_id, _ in rows:
        known[query_id][doc_id] = None
    for (query_id, doc_id), grade in known_pairs(refill.pool.collection, queries).items():
        known[query_id][doc_id] = grade
    for query_id, doc_id, origin in rows:
        # Duplicates share the grade of their document.
        known[query_id] |= {copy["doc_id"]: known[query_id][doc_id] for copy in origin.get("copies", ())}
    return known


def _flat(known: Known) -> dict[tuple[str, str], float | None]:
    return {(query_id, doc_id): grade for query_id, some in known.items() for doc_id, grade in some.items()}


def _chosen(refill: Refill, queries: Sequence[str], known: Known) -> ChosenPool:
    """Return the next pairs of these queries, which depend only on the pool, the queries and the known grades."""
    from assay.strategies.pool import build_pool

    pool = refill.pool
    words = STRATEGIES[pool.strategy].reads
    return build_pool(
        _runs(pool),
        pool.strategy,
        _own_parameters(pool),
        seed=pool.seed,
        budget=refill.batch,
        judged=_flat(known),
        relevant_from=relevant_from(pool),
        queries=queries,
        wording=wording(pool.collection) if words else None,
        duplicates=_compared(pool),
    )


def _runs(pool: Pool) -> Iterator[RankedRun]:
    """Yield the pool's runs, under their names at the time the round was created."""
    names = pool.summary.get("run_names", {})
    for run in pool.runs.all():
        yield stored_runs.ranked(run, by=pool.parameters.get("by", "rank")).named(names.get(str(run.uuid), run.name))


def _compared(pool: Pool) -> Duplicates | None:
    """Return how the pool recognizes duplicates."""
    names = ("similarity", "apart")
    options = {name: pool.parameters[name] for name in names if name in pool.parameters}
    return duplicates.compared(pool.collection, pool.parameters.get("duplicates", "off"), **options)


def _attach_copies(refill: Refill, chosen: ChosenPool, requested: Sequence[str]) -> int:
    """Attach duplicates among the chosen pairs to earlier pairs; the strategy then runs again."""
    import numpy as np

    from assay.strategies.duplicates import late_copies
    from assay.strategies.pooled_pair import PairCopy

    how = _compared(refill.pool)
    if how is None or not len(chosen):
        return 0
    table = chosen.candidates
    own = refill.round.pairs.filter(query__query_id__in=requested)
    rows = table.find(list(own.values_list("query__query_id", "document__doc_id")))
    new = [row for row in chosen.rows.tolist() if table.query_ids[table.query_of[row]] in set(requested)]
    matches = late_copies(table, rows[rows >= 0], np.array(new, dtype=np.int64), how)
    named = table.doc_ids.take(matches.rows).tolist(), table.doc_ids.take(matches.of).tolist()
    with transaction.atomic():
        if not len(matches) or not _won(refill, steps=refill.steps + 1):
            return 0
        for at, (doc_id, judged_as) in enumerate(zip(*named, strict=True)):
            row = int(matches.rows[at])
            rank, share = int(table.best_rank[row]) or None, float(matches.similarity[at])
            copy = PairCopy(doc_id, rank, table.where(row), bool(matches.exact[at]), share)
            _stand_for(refill, table.query_ids[table.query_of[row]], judged_as, copy)
        sentence = f"{amount(len(matches), 'document')} of round {refill.round} will be judged through duplicates"
        audit.record("refilling.go_on", sentence, actor=None, collection=refill.pool.collection, target=refill.round)
    return len(matches)


def _stand_for(refill: Refill, query_id: str, doc_id: str, copy: PairCopy) -> None:
    """Record the duplicate in the origin of the pair and in its pool entry."""
    names = {"query__query_id": query_id, "document__doc_id": doc_id}
    for row in (*refill.round.pairs.filter(**names), *refill.pool.entries.filter(**names)):
        row.origin["copies"] = [*row.origin.get("copies", ()), copy.as_json()]
        row.save(update_fields=["origin"])


def _own_parameters(pool: Pool) -> dict[str, Any]:
    names = {one.name for one in STRATEGIES[pool.strategy].parameters}
    return {name: value for name, value in pool.parameters.items() if name in names}


def relevant_from(pool: Pool) -> float:
    """Return the lowest grade that counts as relevant for the pool's strategy."""
    return float(pool.parameters.get("relevant_from") or 1)


def _append(refill: Refill, room: Room, chosen: ChosenPool, known: Known, queries: Sequence[str], wanted: int) -> int:
    """Append the wanted number of chosen pairs, query by query; a query without pairs is tried again later."""
    taken: list[PoolPair] = []
    dry = dict(refill.dry)
    by_query: dict[str, list[PoolPair]] = {query_id: [] for query_id in queries}
    for pair in chosen.pairs:
        if pair.query_id in by_query:
            by_query[pair.query_id].append(pair)
    for query_id, pairs in by_query.items():
        if not pairs:
            dry[query_id] = room.judged[query_id]
        elif len(taken) < wanted:
            taken += pairs[: min(room.queries[query_id], room.left - len(taken))]
    with transaction.atomic():
        if not _won(refill, dry=dry, steps=refill.steps + bool(taken)):
            return 0
        if taken:
            _record(refill, known, len(taken))
            names = {(pair.query_id, pair.doc_id) for pair in taken}
            shuffled = [pair for pair in chosen.handed_out(refill.batch) if (pair.query_id, pair.doc_id) in names]
            _write(refill, taken, shuffled, room.pairs)
    return len(taken)


def _won(refill: Refill, **fields: Any) -> bool:
    """Return whether this worker takes the step; the row changes when another worker takes it."""
    return bool(Refill.objects.filter(pk=refill.pk, steps=refill.steps, ended=refill.ended).update(**fields))


def _record(refill: Refill, known: Known, added: int) -> None:
    """Store the input of the step by query, which is enough to repeat the choice."""
    RefillStep.objects.create(refill=refill, number=refill.steps + 1, known=known, added=added)


def _write(
    refill: Refill, pairs: Sequence[PoolPair], handed_out: Sequence[PoolPair], before: Mapping[str, int]
) -> None:
    """Append the pairs to the pool in the order of choice, and to the round in the order of assignment."""
    pool = refill.pool
    queries = {row.query_id: row for row in pool.collection.queries.filter(query_id__in=before)}
    keys = stub_keys(pool.collection, [pair.doc_id for pair in pairs])
    documents = Document.objects.in_bulk([keys[pair.doc_id] for pair in pairs])
    common = {"strategy": pool.strategy, "seed": pool.seed, "refill": refill.steps + 1}

    def origin(pair: PoolPair) -> dict[str, Any]:
        return {**common, **pair.as_json(), "step": before[pair.query_id] + pair.step}

    last = pool.entries.aggregate(last=Max("position"))["last"]
    PoolEntry.objects.bulk_create(
        PoolEntry(
            pool=pool,
            query=queries[pair.query_id],
            document=documents[keys[pair.doc_id]],
            position=position,
            best_rank=pair.best_rank,
            origin=origin(pair),
        )
        for position, pair in enumerate(pairs, 0 if last is None else last + 1)
    )
    candidates = (
        rounds.Candidate(queries[pair.query_id], documents[keys[pair.doc_id]], {**origin(pair), "pool": str(pool.uuid)})
        for pair in handed_out
    )
    rounds.append_pairs(refill.round, candidates=candidates)


def _finish(refill: Refill, why: str) -> None:
    """Draw the residual stratum from the remaining pairs, and mark the round as complete."""
    pairs: Sequence[PoolPair] = ()
    before: Mapping[str, int] = {}
    known: Known = {}
    if refill.residual:
        before = free_room(refill).pairs
        known = _known(refill, list(before))
        pairs = _residual(refill, known)
    with transaction.atomic():
        if not _won(refill, ended=why, steps=F("steps") + 1):
            return
        if pairs:
            _record(refill, known, len(pairs))
            _write(refill, pairs, pairs, before)
        rounds.stop_growing(refill.round, why=Refill.End(why).label, actor=None)


def _residual(refill: Refill, known: Known) -> Sequence[PoolPair]:
    """Return random pairs from below a list of all chosen pairs, so that none of these is drawn again."""
    from assay.strategies.pool import build_pool

    judged, runs = _flat(known), _runs(refill.pool)
    below = {"pairs": list(judged)}
    return build_pool(runs, "list", below, seed=refill.pool.seed, residual=refill.residual, judged=judged).pairs
