"""Duplicates in a pool: documents judged through another document, and their separation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Max, QuerySet

from assay.core.errors import Conflict, NotFound, NotValid
from assay.strategies.duplicates import Content, Duplicates, written
from assay.strategies.pooled_pair import EXACT, KINDS, OFF, SIMILARITY
from judgments.models import Collection, Document, User, audit
from judgments.models.fields import rows_among
from pooling.models import Pool, PoolEntry

if TYPE_CHECKING:
    from assay.strategies.chosen_pairs import Pool as ChosenPool
    from assay.strategies.pooled_pair import PairCopy

Watch = Callable[[int], None]


@dataclass(frozen=True)
class Group:
    """A document that is judged through another document of the same query, as a row of a list."""

    query_id: str
    query: str
    doc_id: str
    title: str
    uuid: str
    copy_id: str
    copy_title: str
    copy_uuid: str
    rank: int | None
    copy_rank: int | None
    why: str
    similarity: float


def compared(
    collection: Collection,
    kind: str,
    *,
    similarity: float = SIMILARITY,
    apart: Iterable[Sequence[str]] = (),
    watch: Watch | None = None,
) -> Duplicates | None:
    """Return how a pool compares documents; None if it does not compare them."""
    if kind not in KINDS:
        choices = f"Use one of {', '.join(KINDS)}."
        raise NotValid(f"Unknown duplicate handling {kind!r}.", {"duplicates": choices})
    if kind == OFF:
        return None
    alone = frozenset((query_id, doc_id) for query_id, doc_id in apart)
    return Duplicates(contents(collection, watch), None if kind == EXACT else similarity, alone)


def contents(collection: Collection, watch: Watch | None = None) -> Callable[[Sequence[str]], list[Content | None]]:
    """Return a reader of the content that raters see; it returns None for a document without stored content."""
    stored = collection.documents.filter(stub=False).values_list("doc_id", "title", "text", "fields", "image")
    done = 0

    def read(doc_ids: Sequence[str]) -> list[Content | None]:
        nonlocal done
        contents_by_id = {
            doc_id: Content(title, text, written(fields), image)
            for doc_id, title, text, fields, image in rows_among(stored, "doc_id", doc_ids)
        }
        done += len(doc_ids)
        if watch:
            watch(done)
        return [contents_by_id.get(doc_id) for doc_id in doc_ids]

    return read


def groups_of_choice(collection: Collection, chosen: ChosenPool, most: int | None = None) -> list[Group]:
    """Return the duplicates of a pool that is not stored yet, query by query; at most ``most`` of them."""
    if not len(chosen.copies):
        return []
    rows = (
        (pair.query_id, pair.doc_id, pair.best_rank, copy)
        for pair in chosen.pairs_with_copies()
        for copy in pair.copies
    )
    return _groups(collection, list(islice(rows, most)))


def groups_of(pool: Pool) -> list[Group]:
    """Return the duplicates of a drawn pool, in the order of its pairs."""
    from assay.strategies.pooled_pair import PairCopy

    rows = entries_with_copies(pool).values_list("query__query_id", "document__doc_id", "best_rank", "origin__copies")
    copies = ((query_id, doc_id, rank, PairCopy.of_json(copy)) for query_id, doc_id, rank, own in rows for copy in own)
    return _groups(pool.collection, list(copies))


def entries_with_copies(pool: Pool) -> QuerySet[PoolEntry]:
    """Return the pairs of the pool through which other documents are judged."""
    return pool.entries.filter(origin__has_key="copies").order_by("position")


def _groups(collection: Collection, rows: Sequence[tuple[str, str, int | None, PairCopy]]) -> list[Group]:
    """Add titles to the ids."""
    documents = _titles(collection, {doc_id for _, doc_id, _, copy in rows for doc_id in (doc_id, copy.doc_id)})
    wanted = sorted({query_id for query_id, _, _, _ in rows})
    queries = dict(rows_among(collection.queries.values_list("query_id", "text"), "query_id", wanted))
    groups = []
    for query_id, doc_id, rank, copy in rows:
        title, uuid = documents[doc_id]
        copy_title, copy_uuid = documents[copy.doc_id]
        why, share = "exact" if copy.exact else "near", copy.similarity
        ids = (query_id, queries[query_id], doc_id, title, uuid, copy.doc_id, copy_title, copy_uuid)
        groups.append(Group(*ids, rank, copy.best_rank, why, share))
    return groups


def _titles(collection: Collection, doc_ids: set[str]) -> dict[str, tuple[str, str]]:
    rows = rows_among(collection.documents.values_list("doc_id", "title", "uuid"), "doc_id", sorted(doc_ids))
    return {doc_id: (title or doc_id, str(uuid)) for doc_id, title, uuid in rows}


@transaction.atomic
def judge_separately(pool: Pool, *, query_id: str, doc_id: str, actor: User) -> PoolEntry:
    """Judge a duplicate separately; it becomes the last pair of the pool."""
    pool = Pool.objects.select_for_update(of=("self",)).select_related("collection").get(pk=pool.pk)
    if pool.collection.rounds.filter(pairs__origin__pool=str(pool.uuid)).exists():
        raise Conflict("A round uses these pairs, so they can't change. Create another pool without this duplicate.")
    for entry in entries_with_copies(pool).filter(query__query_id=query_id):
        copies = entry.origin["copies"]
        copy = next((one for one in copies if one["doc_id"] == doc_id), None)
        if copy is not None:
            return _add_separate_entry(pool, entry, copy, actor)
    raise NotFound(f"Document {doc_id} of query {query_id} is not judged through another document in this pool.")


def _add_separate_entry(pool: Pool, entry: PoolEntry, copy: dict[str, Any], actor: User) -> PoolEntry:
    left = [one for one in entry.origin["copies"] if one is not copy]
    plain = {name: value for name, value in entry.origin.items() if name != "copies"}
    entry.origin = plain | ({"copies": left} if left else {})
    entry.save(update_fields=["origin"])
    last = pool.entries.aggregate(last=Max("position"))["last"]
    step = pool.entries.filter(query=entry.query).count() + 1
    own = {"best_rank": copy["best_rank"], "runs": copy["runs"], "step": step}
    made = PoolEntry.objects.create(
        pool=pool,
        query=entry.query,
        document=Document.objects.get(collection=pool.collection, doc_id=copy["doc_id"]),
        position=last + 1,
        best_rank=copy["best_rank"],
        origin=plain | own,
    )
    apart = sorted([*pool.parameters.get("apart", []), [entry.query.query_id, copy["doc_id"]]])
    pool.parameters = pool.parameters | {"apart": apart}
    pool.provenance = pool.provenance | {"duplicates": pool.provenance["duplicates"] | {"apart": apart}}
    pool.summary = _summary_after_removal(pool, left)
    pool.save(update_fields=["parameters", "provenance", "summary"])
    sentence = f"{actor} separated document {copy['doc_id']} from the duplicates of pool {pool}"
    audit.record("copies.take_out", sentence, actor=actor, target=pool)
    return made


def _summary_after_removal(pool: Pool, left: Sequence[Any]) -> dict[str, Any]:
    """Return the summary with one more pair and one less duplicate; the counts by run stay unchanged."""
    summary = dict(pool.summary)
    summary["copies"] -= 1
    summary["groups"] -= not left
    summary["pairs"] += 1
    return summary
