"""Storage of the chosen pairs as rows, with their provenance."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connection

from judgments.imports.documents import stub_keys
from judgments.models import Collection, User
from pooling.models import Pool, PoolEntry, Run

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
