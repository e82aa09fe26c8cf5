"""How is a pool drawn from runs, and how does it become a round?"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from statistics import median_low
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction

from judgments import audit, jobs, rounds
from judgments.core.errors import NotValid
from judgments.documents import stub_keys
from judgments.models import Collection, Job, Judgment, Pair, Round, User
from pooling import runs as runs_of
from pooling.models import Pool, PoolEntry, Run
from pooling.strategies import STRATEGIES

if TYPE_CHECKING:
    from pooling.strategies.pair import PoolPair
    from pooling.strategies.pool import Pool as ChosenPool
    from pooling.strategies.preview import Preview
    from pooling.strategies.strategy import Wording

BATCH = 1_000
# About ten seconds of reading.
LARGE = 2_000_000
ORDERS = ("rank", "score")
UNFINISHED = (Round.State.DRAFT, Round.State.OPEN)


def choose(
    collection: Collection,
    *,
    strategy: str,
    runs: Sequence[Run],
    parameters: dict[str, Any] | None = None,
    seed: int = 1,
    budget: int | None = None,
    residual: int = 0,
    by: str = "rank",
    leave_out_judged: bool = False,
) -> ChosenPool:
    """The pairs that a strategy would choose, over the collection's own queries. Nothing is stored."""
    if by not in ORDERS:
        raise NotValid(f"A run is ordered by {' or '.join(ORDERS)}, not by {by!r}.", {"by": " or ".join(ORDERS)})
    from pooling.strategies.pool import build_pool

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
        residual=residual,
        judged=judged_pairs(collection) if leave_out_judged and not member.adaptive else learned,
        queries=queries,
        wording=wording(collection) if member.reads else None,
    )
    if strategy == "list":
        _check_queries(parameters or {}, queries)
    return chosen


def preview(chosen: ChosenPool) -> Preview:
    """What the pool looks like before anybody judges it."""
    from pooling.strategies.preview import preview as describe

    return describe(chosen)


def draw_pool(
    collection: Collection,
    *,
    strategy: str,
    actor: User,
    runs: Sequence[Run] = (),
    parameters: dict[str, Any] | None = None,
    seed: int = 1,
    budget: int | None = None,
    residual: int = 0,
    by: str = "rank",
    leave_out_judged: bool = False,
    reason: str = "",
) -> Pool:
    """Choose pairs and put them on record, each with the runs that found it and their ranks.

    Parameters
    ----------
    collection : Collection
        Whose queries are pooled; what a run says about other queries is left out and counted by its health.
    strategy : str
        A member of ``pooling.strategies.STRATEGIES``.
    actor : User
        The lead who does it.
    runs : sequence of Run
        What is pooled; none for ``list``.
    parameters : dict, optional
        The strategy's own: ``depth``, ``p``, ``pairs``.
    seed : int
        For every random choice; stored.
    budget, residual : int
        Pairs per query at most, and random pairs per query from below the pool.
    by : str
        ``rank``: what each system showed, its rank column telling equal scores apart (a run whose ranks contradict its
        scores is taken by score). ``score``: trec_eval's order, in which metrics read the run: with ties it is the one
        that leaves no hole in the top k.
    leave_out_judged : bool
        Leave out the pairs that have a human label already. An adaptive strategy learns from them, and always does.
    reason : str
        Why these pairs, in a few words, where the strategy does not tell; shown with the pool.
    """
    if len({run.collection_id for run in runs} | {collection.pk}) > 1:
        raise NotValid("These runs are not of this collection.", {"runs": "Choose runs of one collection."})
    chosen = choose(
        collection,
        strategy=strategy,
        runs=runs,
        parameters=parameters,
        seed=seed,
        budget=budget,
        residual=residual,
        by=by,
        leave_out_judged=leave_out_judged,
    )
    from pooling.strategies.discovery import depth_sizes

    if not chosen.pairs:
        raise NotValid("This pool would be empty.", {"strategy": "Take more runs, a greater depth, or other queries."})
    kept = {name: value for name, value in chosen.params.items() if name != "pairs"}
    if "pairs" in chosen.params:
        kept["pairs_sha256"] = _hash_of_pairs(chosen.pairs)
    with transaction.atomic():
        pool = Pool.objects.create(
            collection=collection,
            strategy=strategy,
            parameters={**kept, "budget": budget, "residual": residual, "by": by}
            | ({"reason": reason} if reason else {}),
            seed=seed,
            provenance={**_provenance(strategy, kept, seed, budget, residual, runs), "by": by},
            summary={
                **_plain(asdict(preview(chosen))),
                "left_out_judged": chosen.judged,
                "pairs_to_depth": depth_sizes(chosen.candidates),
            },
            created_by=actor,
        )
        pool.runs.set(runs)
        _add_entries(pool, chosen)
        sentence = f"{actor} drew pool {pool} with {len(chosen.pairs):,} pairs"
        audit.record("pools.draw_pool", sentence, actor=actor, collection=collection, target=pool, seed=seed)
    return pool


def is_large(runs: Sequence[Run]) -> bool:
    """Whether these runs take longer to read than a page may: pools over them are jobs."""
    return sum(run.rows for run in runs) > LARGE


def draw_later(collection: Collection, *, actor: User, runs: Sequence[Run], **options: Any) -> Job:
    """The same as a job, for runs that take longer than a request should."""
    parameters = {"runs": [str(run.uuid) for run in runs], "options": options}
    title = f"Draw a pool from {len(runs)} run{'' if len(runs) == 1 else 's'}"
    return jobs.start("pool", title=title, parameters=parameters, collection=collection, actor=actor)


def work_on_pool(work: jobs.Work) -> dict[str, Any]:
    """The job behind :func:`draw_later`. The pool and that it is there are stored as one: a resumed job sees it."""
    job = work.job
    if job.result:
        return job.result
    runs = list(job.collection.runs.filter(uuid__in=job.parameters["runs"]))
    work.progress(0)
    with transaction.atomic():
        pool = draw_pool(job.collection, actor=job.created_by, runs=runs, **job.parameters["options"])
        return work.keep({"pool": str(pool.uuid), "pairs": pool.entries.count()})


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


def judged_pairs(collection: Collection) -> frozenset[tuple[str, str]]:
    """Pairs with a counted human grade in any round of the collection."""
    rows = Pair.objects.filter(round__collection=collection, slots__filled_by__state="graded")
    return frozenset(rows.values_list("query__query_id", "document__doc_id"))


def known_pairs(collection: Collection, queries: Sequence[str] | None = None) -> dict[tuple[str, str], float | None]:
    """What people know by now: the lower median of each pair's grades; None for one that still waits for a rating.

    This is what an adaptive strategy learns from; it never chooses a pair that is here. A pair teaches when it has all
    its ratings: a choice must not tell a lead who rates too what others said of a pair that is still open.
    """
    of_pair = {} if queries is None else {"query__query_id__in": queries}
    of_judgment = {f"pair__{name}": value for name, value in of_pair.items()}
    graded = Judgment.objects.counted().filter(pair__round__collection=collection, **of_judgment)
    grades: dict[tuple[str, str], list[int]] = {}
    for query_id, doc_id, grade in graded.values_list("pair__query__query_id", "pair__document__doc_id", "grade"):
        grades.setdefault((query_id, doc_id), []).append(grade)
    waiting = Pair.objects.filter(
        round__collection=collection, round__state__in=UNFINISHED, slots__filled_by__isnull=True, **of_pair
    )
    names = waiting.values_list("query__query_id", "document__doc_id").distinct()
    return {pair: median_low(found) for pair, found in grades.items()} | dict.fromkeys(names)


def wording(collection: Collection) -> Wording:
    """The words of a collection's queries, and those of documents when they are asked for."""
    from pooling.strategies.strategy import Wording

    def texts(doc_ids: Sequence[str]) -> list[str]:
        found: dict[str, str] = {}
        for begin in range(0, len(doc_ids), BATCH):
            some = collection.documents.filter(doc_id__in=doc_ids[begin : begin + BATCH], stub=False)
            found |= {doc_id: f"{title} {text}" for doc_id, title, text in some.values_list("doc_id", "title", "text")}
        return [found.get(doc_id, "") for doc_id in doc_ids]

    return Wording(dict(collection.queries.values_list("query_id", "text")), texts)


def _provenance(
    strategy: str, parameters: dict[str, Any], seed: int, budget: int | None, residual: int, runs: Sequence[Run]
) -> dict[str, Any]:
    """What a snapshot's hash covers: no names, which anybody may change, but the files' hashes."""
    return {
        "strategy": strategy,
        "parameters": parameters,
        "seed": seed,
        "budget": budget,
        "residual": residual,
        "runs": sorted(({"sha256": run.sha256, "depth": run.depth} for run in runs), key=lambda row: row["sha256"]),
    }


def _hash_of_pairs(pairs: Sequence[PoolPair]) -> str:
    """What stands for a given list in the provenance: the list itself may be long."""
    lines = sorted(f"{pair.query_id}\t{pair.doc_id}\n".encode() for pair in pairs)
    return hashlib.sha256(b"".join(lines)).hexdigest()


def _plain(value: Any) -> Any:
    """Tuples as lists, so that what is stored reads the same as what was computed."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def _add_entries(pool: Pool, chosen: ChosenPool) -> None:
    """Write the pairs as rows, not as objects: of a large pool, making objects is what takes the time."""
    queries = dict(pool.collection.queries.values_list("query_id", "pk"))
    documents = stub_keys(pool.collection, (pair.doc_id for pair in chosen.pairs))
    common = {"strategy": pool.strategy, "seed": pool.seed}
    rows = (
        (
            pool.pk,
            queries[pair.query_id],
            documents[pair.doc_id],
            position,
            pair.best_rank,
            json.dumps({**common, **pair.as_json()}),
        )
        for position, pair in enumerate(chosen.pairs)
    )
    columns = ("pool_id", "query_id", "document_id", "position", "best_rank", "origin")
    table, names = connection.ops.quote_name(PoolEntry._meta.db_table), ", ".join(columns)
    with connection.cursor() as cursor:
        # The names are our own; every value is a parameter.
        sql = f"INSERT INTO {table} ({names}) VALUES (%s, %s, %s, %s, %s, %s)"  # noqa: S608
        while some := list(islice(rows, BATCH)):
            cursor.executemany(sql, some)
