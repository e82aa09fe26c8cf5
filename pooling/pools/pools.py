"""Pools: choose, preview and store their pairs, and create a round from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.urls import reverse

from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import amount
from assay.core.unjudged import count_unjudged
from assay.strategies import STRATEGIES
from assay.strategies.pooled_pair import SIMILARITY
from judgments.imports.documents import stub_keys
from judgments.jobs import jobs
from judgments.labels import group_labels
from judgments.models import Collection, Job, Round, User, audit
from judgments.rounds import rounds
from pooling.hooks import cutoff
from pooling.models import Pool, PoolEntry, Run
from pooling.pools.duplicates import compared
from pooling.runs import overlap
from pooling.runs import runs as stored_runs
from pooling.runs.known_pairs import judged_pairs, known_pairs, wording

if TYPE_CHECKING:
    from assay.strategies.chosen_pairs import Pool as ChosenPool
    from assay.strategies.pooled_pair import PoolPair

BATCH = 1_000


def store(
    collection: Collection,
    chosen: ChosenPool,
    *,
    actor: User,
    runs: Sequence[Run],
    settings: dict[str, Any],
    also: dict[str, Any],
    summary: dict[str, Any],
    token: UUID | str | None = None,
) -> Pool:
    """Write the pool and its pairs."""
    parameters = {name: value for name, value in chosen.params.items() if name != "pairs"}
    if "pairs" in chosen.params:
        parameters["pairs_sha256"] = _hash_of_pairs(chosen.pairs)
    limits = {"budget": chosen.budget, "residual": chosen.residual}
    shown = {name: value for name, value in settings.items() if name != "duplicates"} | _flat(
        settings.get("duplicates")
    )
    pool = Pool.objects.create(
        **({"uuid": token} if token else {}),
        collection=collection,
        strategy=chosen.strategy,
        parameters={
            **parameters,
            **limits,
            **shown,
            **{name: value for name, value in also.items() if value is not None},
        },
        seed=chosen.seed,
        provenance={**_provenance(chosen.strategy, parameters, chosen.seed, runs), **limits, **settings},
        summary=summary,
        created_by=actor,
    )
    pool.runs.set(runs)
    _add_entries(pool, chosen.pairs)
    return pool


def _provenance(strategy: str, parameters: dict[str, Any], seed: int, runs: Sequence[Run]) -> dict[str, Any]:
    """Return the settings that a snapshot's hash covers: hashes of files instead of names, which can change."""
    return {
        "strategy": strategy,
        "parameters": parameters,
        "seed": seed,
        "runs": sorted(({"sha256": run.sha256, "depth": run.depth} for run in runs), key=lambda row: row["sha256"]),
    }


def _flat(duplicates: dict[str, Any] | None) -> dict[str, Any]:
    """Return the duplicate settings as parameters of the pool."""
    if duplicates is None:
        return {}
    rest = {name: value for name, value in duplicates.items() if name != "kind"}
    return {"duplicates": duplicates["kind"], **rest}


def _hash_of_pairs(pairs: Sequence[PoolPair]) -> str:
    """Return the hash that replaces a long list of pairs in the provenance."""
    lines = sorted(f"{pair.query_id}\t{pair.doc_id}\n".encode() for pair in pairs)
    return hashlib.sha256(b"".join(lines)).hexdigest()


def _add_entries(pool: Pool, pairs: Sequence[PoolPair]) -> None:
    """Insert the pairs with plain SQL, because creating model objects takes most of the time for a large pool."""
    queries = dict(pool.collection.queries.values_list("query_id", "pk"))
    documents = stub_keys(pool.collection, (pair.doc_id for pair in pairs))
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
        for position, pair in enumerate(pairs)
    )
    columns = ("pool_id", "query_id", "document_id", "position", "best_rank", "origin")
    table, names = connection.ops.quote_name(PoolEntry._meta.db_table), ", ".join(columns)
    with connection.cursor() as cursor:
        # The column names are constants of this module; every value is a parameter.
        sql = f"INSERT INTO {table} ({names}) VALUES (%s, %s, %s, %s, %s, %s)"  # noqa: S608
        while some := list(islice(rows, BATCH)):
            cursor.executemany(sql, some)


# About ten seconds of reading.
LARGE = 2_000_000
# The number of texts that can be compared in a few seconds, by kind of comparison.
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
    """Return the pairs that a strategy chooses for the collection's queries, without storing them."""
    if by not in ORDERS:
        raise NotValid(f"Unknown run order {by!r}. Use {' or '.join(ORDERS)}.", {"by": " or ".join(ORDERS)})
    from assay.strategies.pool import build_pool
    from assay.strategies.query_groups import once

    queries = set(collection.queries.values_list("query_id", flat=True))
    if not queries:
        raise NotValid("This collection has no queries.", {"queries": "Draw queries from a log, or upload a file."})
    member = STRATEGIES[strategy]
    learned = known_pairs(collection) if member.adaptive else {}
    chosen = build_pool(
        (stored_runs.ranked(run, by=by) for run in runs),
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
        duplicates=compared(collection, duplicates, similarity=similarity, apart=apart, watch=watch),
    )
    if strategy == "list":
        _check_queries(parameters or {}, queries)
        return chosen  # a user listed these pairs, so all of them are judged
    return once(chosen, group_labels.sharing(collection).values())


def preview(collection: Collection, chosen: ChosenPool, runs: Sequence[Run] = ()) -> dict[str, Any]:
    """Return the summary of a pool before judging as JSON values: :class:`assay.strategies.pool_preview.Preview`."""
    from assay.strategies.pool_preview import advised_depth
    from assay.strategies.pool_preview import preview as describe

    rows = dict(collection.queries.values_list("query_id", "tier"))
    tiers = dict(sorted(rows.items(), key=lambda row: TIERS.index(row[1])))
    summary_of = describe(chosen, tiers)
    advised = advised_depth(chosen.strategy, chosen.params, summary_of.differing)
    left_out = {"left_out_judged": chosen.judged, "over_budget": chosen.over_budget}
    k, depth = cutoff(collection), chosen.params.get("depth")
    expected = {
        "cutoff": k,
        "expected_judged": _expected_judged(collection, chosen, runs, k),
        "shallow": chosen.strategy == "depth" and depth is not None and depth < k,
    }
    return {**_plain(asdict(summary_of)), **left_out, "advised_depth": _plain(advised), **expected}


def _expected_judged(
    collection: Collection, chosen: ChosenPool, runs: Sequence[Run], depth: int
) -> dict[str, float | None]:
    """Return each run's Judged@depth after the pool is judged, in the order in which metrics read the run."""
    import numpy as np

    from assay.strategies.query_groups import spread

    table = chosen.candidates
    rows = np.concatenate([chosen.rows, chosen.copies.rows])
    query = (table.query_ids[at] for at in table.query_of[rows].tolist())
    pairs = dict.fromkeys(zip(query, table.doc_ids.take(rows).tolist(), strict=True))
    known = dict.fromkeys(judged_pairs(collection))
    judged: dict[str, set[str]] = {}
    for query_id, doc_id in spread({**known, **pairs}, group_labels.sharing(collection).values()):
        judged.setdefault(query_id, set()).add(doc_id)
    shares = {run.name: count_unjudged(judged, overlap.first(run, depth).items(), depth).share for run in runs}
    return {name: None if share is None else 1 - share for name, share in shares.items()}


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
    """Choose pairs and store them, each with the runs that returned it and their ranks."""
    if len({run.collection_id for run in runs} | {collection.pk}) > 1:
        raise NotValid("Some runs belong to another collection.", {"runs": "Choose only runs of this collection."})
    if earlier := _drawn(collection, token):
        return earlier
    chosen = choose(collection, strategy=strategy, runs=runs, **how)
    if not len(chosen):
        raise NotValid(
            "This pool would be empty.", {"strategy": "Choose more runs, a greater depth, or other queries."}
        )
    from assay.strategies.discovery_curve import depth_sizes

    settings = {"by": how.get("by", "score"), **_wishes(chosen, how)}
    also = {"reason": reason or None, **(planned or {})}
    left_out = known_pairs(collection) if STRATEGIES[strategy].adaptive or how.get("leave_out_judged") else ()
    summary = {**preview(collection, chosen, runs), "pairs_to_depth": depth_sizes(chosen.candidates, left_out)}
    try:
        with transaction.atomic():
            pool = store(
                collection, chosen, actor=actor, runs=runs, settings=settings, also=also, summary=summary, token=token
            )
            sentence = f"{actor} created pool {pool} with {amount(len(chosen), 'pair')}"
            audit.record("pools.draw_pool", sentence, actor=actor, target=pool, seed=pool.seed)
            return pool
    except IntegrityError:
        # A concurrent request with this token was faster.
        if earlier := _drawn(collection, token):
            return earlier
        raise Conflict("This token belongs to another pool. Send a new token.") from None


def _drawn(collection: Collection, token: UUID | str | None) -> Pool | None:
    return Pool.objects.filter(collection=collection, uuid=token).first() if token else None


def _wishes(chosen: ChosenPool, how: dict[str, Any]) -> dict[str, Any]:
    """Return the settings other than the strategy's own that had an effect; they are part of the provenance."""
    settings: dict[str, Any] = {}
    if chosen.total is not None:
        settings["total"] = chosen.total
    if STRATEGIES[chosen.strategy].adaptive and how.get("relevant_from", 1) != 1:
        settings["relevant_from"] = how["relevant_from"]
    if (kind := how.get("duplicates", "off")) != "off":
        near = {"similarity": how.get("similarity", SIMILARITY)} if kind == "near" else {}
        apart = sorted([query_id, doc_id] for query_id, doc_id in how.get("apart", ()))
        settings["duplicates"] = {"kind": kind, **near, **({"apart": apart} if apart else {})}
    return settings


def is_large(runs: Sequence[Run], *, depth: int | None = None, duplicates: str = "off") -> bool:
    """Return whether reading runs or comparing texts takes too long for a page, so that a job creates the pool."""
    compared = sum(run.rows if depth is None else min(run.rows, run.queries * depth) for run in runs)
    return sum(run.rows for run in runs) > LARGE or compared > MOST_COMPARED[duplicates]


def draw_later(collection: Collection, *, actor: User, runs: Sequence[Run], **options: Any) -> Job:
    """Queue a job that creates the pool."""
    token = options.get("token")
    if token and (earlier := Job.objects.filter(collection=collection, parameters__options__token=str(token)).first()):
        return earlier
    options |= {"token": str(token)} if token else {}
    parameters = {"runs": [str(run.uuid) for run in runs], "options": options}
    title = f"Create a pool from {len(runs)} run{'' if len(runs) == 1 else 's'}"
    return jobs.start("pool", title=title, parameters=parameters, collection=collection, actor=actor)


def work_on_pool(work: jobs.Work) -> dict[str, Any]:
    """Run the job of :func:`draw_later`. The pool has the job's id or its token, so a resumed job finds it."""
    job = work.job
    runs = list(job.collection.runs.filter(uuid__in=job.parameters["runs"]))
    work.progress(0)
    options = job.parameters["options"]
    options = {**options, "token": options.get("token") or str(job.uuid)}
    # The choice runs outside a transaction, because it may take minutes and other users must be able to write.
    pool = draw_pool(job.collection, actor=job.created_by, runs=runs, watch=work.progress, **options)
    return work.keep({"pool": str(pool.uuid), "pairs": pool.entries.count(), "page": page_of(pool)})


def page_of(pool: Pool) -> str:
    """Return the URL of a pool's page."""
    return reverse("pool", args=[pool.collection.slug, pool.uuid])


def make_round(pool: Pool, *, actor: User, plan: dict[str, Any] | None = None, **options: Any) -> Round:
    """Create a draft round with the pool's pairs; options as in :func:`judgments.rounds.rounds.create_round`."""
    provenance = {**pool.provenance, "pairs": pool.entries.count(), **({"refill": plan} if plan else {})}
    return rounds.create_round(
        pool.collection, candidates=_candidates(pool), provenance=provenance, actor=actor, **options
    )


def _candidates(pool: Pool) -> Iterable[rounds.Candidate]:
    entries = pool.entries.select_related("query", "document").order_by("position")
    for entry in entries.iterator(chunk_size=BATCH):
        yield rounds.Candidate(entry.query, entry.document, {**entry.origin, "pool": str(pool.uuid)})


def _check_queries(parameters: dict[str, Any], queries: set[str]) -> None:
    """Refuse a list with unknown queries, so that no pair is lost."""
    named = [pair["query_id"] if isinstance(pair, dict) else pair[0] for pair in parameters.get("pairs", ())]
    strange = sorted(set(named) - queries)
    if strange:
        more = f" and {len(strange) - 1:,} more" if len(strange) > 1 else ""
        message = f"The query {strange[0]}{more} is not in this collection."
        raise NotValid(message, {"pairs": f"{message} Upload these queries first."})


def _plain(value: Any) -> Any:
    """Return tuples as lists, so that a stored value equals the computed one."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value
