"""The job that chooses the next pairs of a growing round.

The job calls the strategy whenever raters have fewer than two batches ahead, with the judgments so far, until the
budget or the strategy is exhausted. Each step is one transaction that exactly one worker wins. The input of a step is
stored with it, so that the choice can be repeated from the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.db import transaction
from django.db.models import F, Max

from judgments import audit, jobs, rounds
from judgments.core.amounts import amount
from judgments.documents import stub_keys
from judgments.models import Document, Job, Pair, Round
from pooling import copies, due
from pooling import runs as runs_of
from pooling.known_pairs import known_pairs, wording
from pooling.models import Pool, PoolEntry, Refill, RefillStep
from pooling.strategies import STRATEGIES

if TYPE_CHECKING:
    from judgments.core.run import Run as RankedRun
    from pooling.strategies.chosen import Pool as ChosenPool
    from pooling.strategies.duplicates import Duplicates
    from pooling.strategies.pair import PairCopy, PoolPair

# How many times more queries are asked about when the ones before had nothing.
WIDER = 4
# How many other queries' documents a strategy that reads is shown.
BACKGROUND = 20
# All raters of a round together take no more pairs in a second; and so long nobody looks again at most, in seconds.
QUICKEST, LONGEST_LOOK = 200, 30
# By query and document what is known; None for a pair that somebody has.
Known = dict[str, dict[str, float | None]]


def wake(round_: Round) -> None:
    """Put the job in line if pairs are wanted. It runs after each answer, so that it asks little when nothing is."""
    key = f"refill-enough:{round_.pk}"
    if cache.get(key):
        return
    row = Refill.objects.select_related("round", "job").filter(round=round_, round__state=Round.State.OPEN).first()
    if row is None or not row.round.growing or row.job is None or row.job.state != Job.State.DONE:
        return
    left = due.slack(row)
    if row.ended or (left < 0 and _may(due.room(row))):
        jobs.again(row.job)
    elif left >= QUICKEST:
        # A large first draw is counted seldom, since counting it takes as long as an answer.
        cache.set(key, True, min(left // QUICKEST, LONGEST_LOOK))


def wake_all() -> None:
    """The same for every growing round, now and then: nobody waits because one word was lost."""
    for row in Refill.objects.filter(round__state=Round.State.OPEN, round__growing=True).select_related("round"):
        wake(row.round)


def _may(room: due.Room) -> bool:
    return bool(room.over or room.queries)


def work_on_refill(work: jobs.Work) -> dict[str, Any]:
    """The job: step by step until raters have enough ahead. It can be killed between any two statements."""
    refill = Refill.objects.get(uuid=work.job.parameters["refill"])
    spread, before = 1, refill.round.pairs.count()
    while True:
        work.progress(refill.round.pairs.count())
        added = go_on(refill, spread=spread)
        if added is None:
            return {"pairs": refill.round.pairs.count() - before}
        spread = 1 if added else spread * WIDER


def go_on(refill: Refill, *, spread: int = 1) -> int | None:
    """Ask the strategy once, and append what it answers.

    Parameters
    ----------
    refill : Refill
        The plan.
    spread : int
        How many times more queries to ask about than the wanted pairs need.

    Returns
    -------
    int or None
        How many pairs were appended; None when there is nothing to do now.
    """
    refill = Refill.objects.select_related("round", "pool__collection").get(pk=refill.pk)
    if refill.round.state != Round.State.OPEN or not refill.round.growing:
        return None
    room = due.room(refill)
    if refill.ended or room.over:
        _finish(refill, refill.ended or room.over)
        return None
    wanted = due.wanted(refill)
    if not wanted or not room.queries:
        return None
    needed = spread * -(-wanted // refill.batch)
    asked = list(room.queries)[:needed]
    known = _known(refill, asked)
    shown = [*asked, *_background(refill.pool, room, asked)]
    chosen = _chosen(refill, shown, known)
    if _attach_copies(refill, chosen, asked):
        return 0
    return _append(refill, room, chosen, {query_id: known.get(query_id, {}) for query_id in shown}, asked, wanted)


def _background(pool: Pool, room: due.Room, asked: Sequence[str]) -> list[str]:
    """Some other queries for a strategy that reads: which words are usual it tells by the documents of several."""
    if not STRATEGIES[pool.strategy].reads:
        return []
    return sorted(room.pairs.keys() - set(asked))[:BACKGROUND]


def _known(refill: Refill, queries: Sequence[str]) -> Known:
    """What is known of these queries; the round's own pairs are in somebody's hands until they teach."""
    own = Pair.objects.filter(round=refill.round, query__query_id__in=queries)
    rows = list(own.values_list("query__query_id", "document__doc_id", "origin"))
    known: Known = {query_id: {} for query_id in queries}
    for query_id, doc_id, _ in rows:
        known[query_id][doc_id] = None
    for (query_id, doc_id), grade in known_pairs(refill.pool.collection, queries).items():
        known[query_id][doc_id] = grade
    for query_id, doc_id, origin in rows:
        # Documents that are judged with this one are known as it is.
        known[query_id] |= {copy["doc_id"]: known[query_id][doc_id] for copy in origin.get("copies", ())}
    return known


def _flat(known: Known) -> dict[tuple[str, str], float | None]:
    return {(query_id, doc_id): grade for query_id, some in known.items() for doc_id, grade in some.items()}


def _chosen(refill: Refill, queries: Sequence[str], known: Known) -> ChosenPool:
    """The next pairs of these queries: it hangs on the pool, the queries and what is known, and on nothing else."""
    from pooling.strategies.pool import build_pool

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
    """The pool's runs, one after the other, under the names that they had when its round was made."""
    names = pool.summary.get("run_names", {})
    for run in pool.runs.all():
        yield runs_of.ranked(run, by=pool.parameters.get("by", "rank")).named(names.get(str(run.uuid), run.name))


def _compared(pool: Pool) -> Duplicates | None:
    """How the pool tells documents that say the same."""
    names = ("similarity", "apart")
    options = {name: pool.parameters[name] for name in names if name in pool.parameters}
    return copies.compared(pool.collection, pool.parameters.get("duplicates", "off"), **options)


def _attach_copies(refill: Refill, chosen: ChosenPool, asked: Sequence[str]) -> int:
    """Let earlier pairs stand for what was just chosen and says the same; the strategy is then asked once more."""
    import numpy as np

    from pooling.strategies.late_copies import late_copies
    from pooling.strategies.pair import PairCopy

    how = _compared(refill.pool)
    if how is None or not len(chosen):
        return 0
    table = chosen.candidates
    own = refill.round.pairs.filter(query__query_id__in=asked)
    rows = table.find(list(own.values_list("query__query_id", "document__doc_id")))
    new = [row for row in chosen.rows.tolist() if table.query_ids[table.query_of[row]] in set(asked)]
    found = late_copies(table, rows[rows >= 0], np.array(new, dtype=np.int64), how)
    named = table.doc_ids.take(found.rows).tolist(), table.doc_ids.take(found.of).tolist()
    with transaction.atomic():
        if not len(found) or not _won(refill, steps=refill.steps + 1):
            return 0
        for at, (doc_id, judged_as) in enumerate(zip(*named, strict=True)):
            row = int(found.rows[at])
            rank, share = int(table.best_rank[row]) or None, float(found.similarity[at])
            copy = PairCopy(doc_id, rank, table.where(row), bool(found.exact[at]), share)
            _stand_for(refill, table.query_ids[table.query_of[row]], judged_as, copy)
        sentence = f"{amount(len(found), 'document')} of round {refill.round} will be judged as earlier ones"
        audit.record("refilling.go_on", sentence, actor=None, collection=refill.pool.collection, target=refill.round)
    return len(found)


def _stand_for(refill: Refill, query_id: str, doc_id: str, copy: PairCopy) -> None:
    """Name the copy where the pair and its pool entry say where they come from."""
    names = {"query__query_id": query_id, "document__doc_id": doc_id}
    for row in (*refill.round.pairs.filter(**names), *refill.pool.entries.filter(**names)):
        row.origin["copies"] = [*row.origin.get("copies", ()), copy.as_json()]
        row.save(update_fields=["origin"])


def _own_parameters(pool: Pool) -> dict[str, Any]:
    names = {one.name for one in STRATEGIES[pool.strategy].parameters}
    return {name: value for name, value in pool.parameters.items() if name in names}


def relevant_from(pool: Pool) -> float:
    """The lowest grade that counts as relevant for the pool's strategy."""
    return float(pool.parameters.get("relevant_from") or 1)


def _append(refill: Refill, room: due.Room, chosen: ChosenPool, known: Known, asked: Sequence[str], wanted: int) -> int:
    """Take what is wanted of what was chosen, query by query; a query without any is asked about later."""
    taken: list[PoolPair] = []
    dry = dict(refill.dry)
    found: dict[str, list[PoolPair]] = {query_id: [] for query_id in asked}
    for pair in chosen.pairs:
        if pair.query_id in found:
            found[pair.query_id].append(pair)
    for query_id, pairs in found.items():
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
    """Whether this worker is the one that takes the step; another one's row has moved on."""
    return bool(Refill.objects.filter(pk=refill.pk, steps=refill.steps, ended=refill.ended).update(**fields))


def _record(refill: Refill, known: Known, added: int) -> None:
    """What the step knew, by query: all that is needed to choose again."""
    RefillStep.objects.create(refill=refill, number=refill.steps + 1, known=known, added=added)


def _write(
    refill: Refill, pairs: Sequence[PoolPair], handed_out: Sequence[PoolPair], before: Mapping[str, int]
) -> None:
    """Put the pairs into the pool in the order of choice, and into the round in the order of handing out."""
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
    rounds.append_pairs(refill.round, candidates=candidates, actor=None)


def _finish(refill: Refill, why: str) -> None:
    """Draw the residual stratum from what is left, and say that the round is complete."""
    pairs: Sequence[PoolPair] = ()
    before: Mapping[str, int] = {}
    known: Known = {}
    if refill.residual:
        before = due.room(refill).pairs
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
    """Random pairs below a list of all that was chosen: nothing of the list is new."""
    from pooling.strategies.pool import build_pool

    judged, runs = _flat(known), _runs(refill.pool)
    below = {"pairs": list(judged)}
    return build_pool(runs, "list", below, seed=refill.pool.seed, residual=refill.residual, judged=judged).pairs
