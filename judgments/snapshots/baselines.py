"""Record of the collection at the time of a freeze, from which later changes are detected.

Each app adds its own part under its own name in its AppConfig: pooling adds the traffic, evaluation the runs. The
record is in the manifest and is not part of the hash of the labels, so the same labels always have the same hash.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, QuerySet
from django.db.models.fields.json import KeyTextTransform

from judgments.hooks import BASELINES
from judgments.members import recorded_changes
from judgments.models import Collection as TestCollection
from judgments.models import Judgment, Pair, Query, Round
from judgments.models.fields import rows_among
from judgments.snapshots.final_labels import LabelSet

# A field with more distinct values is not a category, and its values are not stored.
MOST_VALUES = 1_000


@dataclass(frozen=True)
class Freezing:
    """The data that is being frozen."""

    collection: TestCollection
    rounds: Sequence[Round]
    queries: Sequence[Query]
    settled: LabelSet

    @cached_property
    def judged(self) -> dict[str, set[str]]:
        """The documents with a label, by query."""
        return self.settled.documents

    @cached_property
    def hashes(self) -> dict[str, str]:
        """The content hash of each judged document, as its raters saw it."""
        return judged_hashes(self.collection, {label.doc_id for label in self.settled.labels}, self.rounds)


Provider = Callable[[Freezing], dict[str, Any]]


def documents(freezing: Freezing) -> dict[str, Any]:
    """Return the number of documents by category and language, and a hash of the judged documents."""
    collection = freezing.collection
    hashes = json.dumps(sorted(freezing.hashes.items()), ensure_ascii=False, separators=(",", ":"))
    return {
        "count": collection.documents.filter(stub=False).count(),
        "judged": len(freezing.hashes),
        "hashes_sha256": hashlib.sha256(hashes.encode()).hexdigest(),
        "fields": {kind: values_of(collection, name) for kind, name in recorded_changes.fields_of(collection).items()},
    }


def take(freezing: Freezing) -> dict[str, Any]:
    """Return the record of each provider, by name."""
    return {name: BASELINES[name](freezing) for name in BASELINES}


def judged_hashes(
    collection: TestCollection, doc_ids: Collection[str], rounds: Iterable[Round], **before: Any
) -> dict[str, str]:
    """Return the content hash of each document as it was judged."""
    hashes = hashes_now(collection, doc_ids)
    rated = Judgment.objects.counted().filter(pair__round__in=list(rounds), **before).exclude(document_sha256="")
    other = rated.exclude(document_sha256=F("pair__document__content_sha256"))
    rows = other.order_by().values_list("pair__document__doc_id", "document_sha256").distinct()
    earlier: dict[str, str] = {}
    for doc_id, digest in rows:
        earlier[doc_id] = min(digest, earlier.get(doc_id, digest))
    return hashes | {doc_id: digest for doc_id, digest in earlier.items() if doc_id in hashes}


def hashes_now(collection: TestCollection, doc_ids: Iterable[str]) -> dict[str, str]:
    """Return the current content hash of each of these documents."""
    hashes: dict[str, str] = {}
    wanted = sorted(doc_ids)
    # If a document and an answer share an id, the document takes precedence, because ids of answers are generated.
    for rows in (collection.documents(manager="answers"), collection.documents):
        hashes.update(rows_among(rows.values_list("doc_id", "content_sha256"), "doc_id", wanted))
    return hashes


def values_of(collection: TestCollection, name: str) -> dict[str, Any]:
    """Return the number of documents with each value of a field; a list counts for each of its values."""
    rows = collection.documents.filter(stub=False).order_by()
    counted = rows.values_list(KeyTextTransform(name, "fields")).annotate(Count("pk"))
    counts: Counter[str] = Counter()
    total = 0
    for value, number in counted:
        total += number
        for one in plain_values(value):
            counts[one] += number
    few = len(counts) <= MOST_VALUES
    return {
        "field": name,
        "total": total,
        "distinct": len(counts),
        "values": {value: counts[value] for value in sorted(counts)} if few else {},
    }


def plain_values(value: Any) -> list[str]:
    """Return the values of one document. SQLite returns numbers and `null` unchanged, PostgreSQL as text."""
    if value is None or value == "null" or value == "":
        return []
    text = str(value)
    if text.startswith("["):
        try:
            return sorted({str(one) for one in json.loads(text) if one not in (None, "")})
        except (ValueError, TypeError, RecursionError):
            return [text]
    return [text]


def stale_pairs(rounds: Sequence[Round]) -> QuerySet[Pair]:
    """Return the pairs of the rounds with a grade for an earlier content of the document."""
    given = Judgment.objects.counted().filter(pair=OuterRef("pk")).exclude(document_sha256="")
    other = given.exclude(document_sha256=OuterRef("document__content_sha256"))
    return Pair.objects.filter(Exists(other), round__in=list(rounds))


def count_stale(rounds: Sequence[Round]) -> int:
    """Count the stale pairs, starting from the judgments, which is fast if few documents changed."""
    given = Judgment.objects.counted().filter(pair__round__in=list(rounds)).exclude(document_sha256="")
    return given.exclude(document_sha256=F("pair__document__content_sha256")).values("pair").distinct().count()
