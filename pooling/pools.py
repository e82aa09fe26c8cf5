"""Pools: choose, preview and draw their pairs, and make a round from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.urls import reverse

from judgments import audit, group_labels, jobs, rounds
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotValid
from judgments.core.unjudged import count_unjudged
from judgments.models import Collection, Job, Round, User
from pooling import copies, overlap
from pooling import runs as runs_of
from pooling.cutoffs import cutoff
from pooling.entries import store
from pooling.known_pairs import judged_pairs, known_pairs, wording
from pooling.models import Pool, Run
from pooling.strategies import STRATEGIES
from pooling.strategies.pair import SIMILARITY

if TYPE_CHECKING:
    from pooling.strategies.chosen import Pool as ChosenPool

BATCH = 1_000
# About ten seconds of reading.
LARGE = 2_000_000
# Texts that are compared in a few seconds, by how they are.
MOST_COMPARED = {"off": LARGE, "exact": 500_000, "near": 60_000}
ORDERS = ("score", "rank")
TIERS = ("head", "torso", "tail", "")


def choose(
    collection: Collection,
    *,
    strategy: str,
    runs: Sequence[Run] = (),
    parameters: dict[str, Any] | None = None,
    seed: int = 1,
    budget: int | None = None,
    total: int | None = None,
    residual: int = 0,
    by: str = "score",
    leave_out_judged: bool = False,
    relevant_from: float = 1.0,
    duplicates: str = "off",
    similarity: float = SIMILARITY,
    apart: Sequence[Sequence[str]] = (),
    watch: Callable[[int], None] | None = None,
) -> ChosenPool:
    """The pairs that a strategy would choose, over the collection's own queries. Nothing is stored.

    Parameters
    ----------
    collection : Collection
        Whose queries are pooled; what a run says about other queries is left out and counted by its health.
    strategy : str
        A member of ``pooling.strategies.STRATEGIES``.
    runs : sequence of Run
        What is pooled; none for ``list``.
    parameters : dict, optional
        The strategy's own: ``depth``, ``p``, ``pairs``.
    seed : int
        For every random choice; stored.
    budget, residual : int
        Pairs per query at most, and random pairs per query from below the pool.
    total : int, optional
        Pairs in all at most, the residual ones among them.
    by : str
        ``score``: trec_eval's order, in which metrics read the run, so that its top k has no unjudged document.
        ``rank``: what each system showed, its rank column telling equal scores apart (a run whose ranks contradict its
        scores is taken by score).
    leave_out_judged : bool
        Leave out the pairs that have a human label already. An adaptive strategy learns from them, and always does.
    relevant_from : float
        The lowest grade that an adaptive strategy counts as relevant.
    duplicates, similarity, apart
        Whether documents that say the same are judged once: as :func:`pooling.copies.compared` takes them.
    watch : callable, optional
        Told now and then how many documents were compared.
    """
    if by not in ORDERS:
        raise NotValid(f"A run is ordered by {' or '.join(ORDERS)}, not by {by!r}.", {"by": " or ".join(ORDERS)})
    from pooling.strategies.pool import build_pool
    from pooling.strategies.spellings import once

    queries = set(collection.queries.values_list("query_id", flat=True))
    if not queries:
        raise NotValid("A pool needs queries.", {"queries": "Draw them from a log, or store a queries file."})
    member = STRATEGIES[strategy]
    learned = known_pairs(collection) if member.adaptive else {}
    chosen = build_pool(
        (runs_of.ranked(run, by=by) for run in runs),
        strategy,
        parameters or {},
        seed=seed,
        budget=budget,
        total=total,
        residual=residual,
        judged=judged_pairs(collection) if leave_out_judged and not member.adaptive else learned,
        relevant_from=relevant_from,
        queries=queries,
        wording=wording(collection) if member.reads else None,
        duplicates=copies.compared(collection, duplicates, similarity=similarity, apart=apart, watch=watch),
    )
    if strategy == "list":
        _check_queries(parameters or {}, queries)
        return chosen  # somebody named these pairs, each of them
    return once(chosen, group_labels.sharing(collection).values())


def preview(collection: Collection, chosen: ChosenPool, runs: Sequence[Run] = ()) -> dict[str, Any]:
    """What the pool looks like before anybody judges it, as plain JSON: :class:`pooling.strategies.preview.Preview`.

    ``expected_judged`` tells for each run what Judged@k will be once the pool is judged. Here k is ``cutoff``, that of
    the collection's primary metric; ``shallow`` says that the pool's depth is below it.
    """
    from pooling.strategies.preview import advised_depth
    from pooling.strategies.preview import preview as describe

    rows = dict(collection.queries.values_list("query_id", "tier"))
    tiers = dict(sorted(rows.items(), key=lambda row: TIERS.index(row[1])))
    found = describe(chosen, tiers)
    advised = advised_depth(chosen.strategy, chosen.params, found.differing)
    left_out = {"left_out_judged": chosen.judged, "over_budget": chosen.over_budget}
    k, depth = cutoff(collection), chosen.params.get("depth")
    expected = {
        "cutoff": k,
        "expected_judged": _expected_judged(collection, chosen, runs, k),
        "shallow": chosen.strategy == "depth" and depth is not None and depth < k,
    }
    return {**_plain(asdict(found)), **left_out, "advised_depth": _plain(advised), **expected}


def _expected_judged(
    collection: Collection, chosen: ChosenPool, runs: Sequence[Run], depth: int
) -> dict[str, float | None]:
    """Judged@depth of each run, in the order in which metrics read it, with the pool and all that is judged already."""
    import numpy as np

    from pooling.strategies.spellings import spread

    table = chosen.candidates
    rows = np.concatenate([chosen.rows, chosen.copies.rows])
    query = (table.query_ids[at] for at in table.query_of[rows].tolist())
    pairs = dict.fromkeys(zip(query, table.doc_ids.take(rows).tolist(), strict=True))
    known = dict.fromkeys(judged_pairs(collection))
    judged: dict[str, set[str]] = {}
    for query_id, doc_id in spread({**known, **pairs}, group_labels.sharing(collection).values()):
        judged.setdefault(query_id, set()).add(doc_id)
    found = {run.name: count_unjudged(judged, overlap.first(run, depth).items(), depth).share for run in runs}
    return {name: None if share is None else 1 - share for name, share in found.items()}


def draw_pool(
    collection: Collection,
    *,
    strategy: str,
    actor: User,
    runs: Sequence[Run] = (),
    reason: str = "",
    planned: dict[str, Any] | None = None,
    token: UUID | str | None = None,
    **how: Any,
) -> Pool:
    """Choose pairs and put them on record, each with the runs that found it and their ranks.

    Parameters
    ----------
    collection, strategy, runs
        As :func:`choose` takes them.
    actor : User
        The lead who does it.
    reason : str
        Why these pairs, in a few words, where the strategy does not tell; shown with the pool.
    planned : dict, optional
        How the total came about, as :class:`pooling.effort.Budget` tells it; shown with the pool.
    token : UUID, optional
        What the pool is to be called. Asked twice with one token, as by a double click, it is drawn once.
    **how
        The rest of what :func:`choose` takes.
    """
    if len({run.collection_id for run in runs} | {collection.pk}) > 1:
        raise NotValid("These runs are not of this collection.", {"runs": "Choose runs of one collection."})
    if earlier := _drawn(collection, token):
        return earlier
    chosen = choose(collection, strategy=strategy, runs=runs, **how)
    if not len(chosen):
        raise NotValid("This pool would be empty.", {"strategy": "Take more runs, a greater depth, or other queries."})
    from pooling.strategies.discovery import depth_sizes

    told = {"by": how.get("by", "score"), **_wishes(chosen, how)}
    also = {"reason": reason or None, **(planned or {})}
    left_out = known_pairs(collection) if STRATEGIES[strategy].adaptive or how.get("leave_out_judged") else ()
    summary = {**preview(collection, chosen, runs), "pairs_to_depth": depth_sizes(chosen.candidates, left_out)}
    try:
        with transaction.atomic():
            pool = store(collection, chosen, actor=actor, runs=runs, told=told, also=also, summary=summary, token=token)
            sentence = f"{actor} drew pool {pool} with {amount(len(chosen), 'pair')}"
            audit.record("pools.draw_pool", sentence, actor=actor, collection=collection, target=pool, seed=pool.seed)
            return pool
    except IntegrityError:
        # Another request with this token was through a moment ago.
        if earlier := _drawn(collection, token):
            return earlier
        raise Conflict("This token has another pool. Send one of your own making.") from None


def _drawn(collection: Collection, token: UUID | str | None) -> Pool | None:
    return Pool.objects.filter(collection=collection, uuid=token).first() if token else None


def _wishes(chosen: ChosenPool, how: dict[str, Any]) -> dict[str, Any]:
    """What was asked beside the strategy's own, where it changed anything: part of the provenance."""
    told: dict[str, Any] = {}
    if chosen.total is not None:
        told["total"] = chosen.total
    if STRATEGIES[chosen.strategy].adaptive and how.get("relevant_from", 1) != 1:
        told["relevant_from"] = how["relevant_from"]
    if (kind := how.get("duplicates", "off")) != "off":
        near = {"similarity": how.get("similarity", SIMILARITY)} if kind == "near" else {}
        apart = sorted([query_id, doc_id] for query_id, doc_id in how.get("apart", ()))
        told["duplicates"] = {"kind": kind, **near, **({"apart": apart} if apart else {})}
    return told


def is_large(runs: Sequence[Run], *, depth: int | None = None, duplicates: str = "off") -> bool:
    """Whether this takes longer than a page may: runs to read, or texts to compare. Pools of it are jobs."""
    compared = sum(run.rows if depth is None else min(run.rows, run.queries * depth) for run in runs)
    return sum(run.rows for run in runs) > LARGE or compared > MOST_COMPARED[duplicates]


def draw_later(collection: Collection, *, actor: User, runs: Sequence[Run], **options: Any) -> Job:
    """The same as a job, for runs that take longer than a request should."""
    token = options.get("token")
    if token and (earlier := Job.objects.filter(collection=collection, parameters__options__token=str(token)).first()):
        return earlier
    options |= {"token": str(token)} if token else {}
    parameters = {"runs": [str(run.uuid) for run in runs], "options": options}
    title = f"Draw a pool from {len(runs)} run{'' if len(runs) == 1 else 's'}"
    return jobs.start("pool", title=title, parameters=parameters, collection=collection, actor=actor)


def work_on_pool(work: jobs.Work) -> dict[str, Any]:
    """The job behind :func:`draw_later`. The pool is called as the job is, or by its token: a resumed job finds it."""
    job = work.job
    if job.result:
        return job.result
    runs = list(job.collection.runs.filter(uuid__in=job.parameters["runs"]))
    work.progress(0)
    options = job.parameters["options"]
    options = {**options, "token": options.get("token") or str(job.uuid)}
    # No transaction is held while the strategy chooses: that may take minutes, and others write meanwhile.
    pool = draw_pool(job.collection, actor=job.created_by, runs=runs, watch=work.progress, **options)
    return work.keep({"pool": str(pool.uuid), "pairs": pool.entries.count(), "page": page_of(pool)})


def page_of(pool: Pool) -> str:
    """The address of a pool's page."""
    return reverse("pool", args=[pool.collection.slug, pool.uuid])


def make_round(pool: Pool, *, actor: User, plan: dict[str, Any] | None = None, **options: Any) -> Round:
    """A draft round over the pool's pairs; the options are those of :func:`judgments.rounds.create_round`.

    ``plan`` says how pairs are chosen while it is open (:mod:`pooling.refill`), and becomes part of its provenance.
    """
    provenance = {**pool.provenance, "pairs": pool.entries.count(), **({"refill": plan} if plan else {})}
    return rounds.create_round(
        pool.collection, candidates=_candidates(pool), provenance=provenance, actor=actor, **options
    )


def _candidates(pool: Pool) -> Iterable[rounds.Candidate]:
    entries = pool.entries.select_related("query", "document").order_by("position")
    for entry in entries.iterator(chunk_size=BATCH):
        yield rounds.Candidate(entry.query, entry.document, {**entry.origin, "pool": str(pool.uuid)})


def _check_queries(parameters: dict[str, Any], queries: set[str]) -> None:
    """A list names its queries; one that nobody knows is an error, not a pair fewer."""
    named = [pair["query_id"] if isinstance(pair, dict) else pair[0] for pair in parameters.get("pairs", ())]
    strange = sorted(set(named) - queries)
    if strange:
        more = f" and {len(strange) - 1:,} more" if len(strange) > 1 else ""
        message = f"The query {strange[0]}{more} is not in this collection."
        raise NotValid(message, {"pairs": f"{message} Store the queries first."})


def _plain(value: Any) -> Any:
    """Tuples as lists, so that what is stored reads the same as what was computed."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value
