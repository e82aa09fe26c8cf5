"""Record of the collection at freezing time, to show later what has changed since.

Each app adds its own part under its own name, in its AppConfig: pooling adds the traffic, evaluation the runs. The
record is in the manifest beside the labels and is not part of their hash: the same labels have the same hash,
whatever else the collection held on that day.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from django.db.models import Count, F
from django.db.models.fields.json import KeyTextTransform

from judgments import declarations
from judgments.core.family import Family
from judgments.labels import Settled
from judgments.models import Collection as TestCollection
from judgments.models import Judgment, Query, Round

BATCH = 500
# A field with more distinct values than these is no category: none of them is kept.
MOST_VALUES = 1_000


@dataclass(frozen=True)
class Freezing:
    """What is being frozen."""

    collection: TestCollection
    rounds: Sequence[Round]
    queries: Sequence[Query]
    settled: Settled

    @cached_property
    def judged(self) -> dict[str, set[str]]:
        """The documents with a label, by query."""
        found: dict[str, set[str]] = {}
        for label in self.settled.labels:
            found.setdefault(label.query_id, set()).add(label.doc_id)
        return found

    @cached_property
    def hashes(self) -> dict[str, str]:
        """The content of each judged document, as its raters saw it."""
        return judged_hashes(self.collection, {label.doc_id for label in self.settled.labels}, self.rounds)


Provider = Callable[[Freezing], dict[str, Any]]


def documents(freezing: Freezing) -> dict[str, Any]:
    """How many documents there are, of which categories and languages, and the judged ones in one digest."""
    collection = freezing.collection
    return {
        "count": collection.documents.filter(stub=False).count(),
        "judged": len(freezing.hashes),
        "hashes_sha256": _digest(sorted(freezing.hashes.items())),
        "fields": {kind: values_of(collection, name) for kind, name in declarations.fields_of(collection).items()},
    }


PROVIDERS: Family[Provider] = Family("baseline", {"documents": "judgments.baselines:documents"})


def take(freezing: Freezing) -> dict[str, Any]:
    """All that is kept with the labels, by who keeps it."""
    return {name: PROVIDERS[name](freezing) for name in PROVIDERS}


def judged_hashes(
    collection: TestCollection, doc_ids: Collection[str], rounds: Iterable[Round], **before: Any
) -> dict[str, str]:
    """The content hash of each document as it was judged.

    A document that changed between a rating and now stands with what was rated, so that the change shows at once.

    Parameters
    ----------
    collection : Collection
        Whose documents.
    doc_ids : collection of str
        Those with a label.
    rounds : iterable of Round
        Whose ratings.
    **before
        What else narrows the ratings, such as ``created_at__lte``.
    """
    found = hashes_now(collection, doc_ids)
    rated = Judgment.objects.counted().filter(pair__round__in=list(rounds), **before).exclude(document_sha256="")
    other = rated.exclude(document_sha256=F("pair__document__content_sha256"))
    rows = other.order_by().values_list("pair__document__doc_id", "document_sha256").distinct()
    earlier: dict[str, str] = {}
    for doc_id, digest in rows:
        earlier[doc_id] = min(digest, earlier.get(doc_id, digest))
    return found | {doc_id: digest for doc_id, digest in earlier.items() if doc_id in found}


def hashes_now(collection: TestCollection, doc_ids: Iterable[str]) -> dict[str, str]:
    """The content hash of each of these documents today."""
    found: dict[str, str] = {}
    for some in _batches(sorted(doc_ids)):
        # An id that is a document's and an answer's is the document's: nobody gives answers their ids.
        for rows in (collection.documents(manager="answers"), collection.documents):
            found.update(rows.filter(doc_id__in=some).values_list("doc_id", "content_sha256"))
    return found


def values_of(collection: TestCollection, name: str) -> dict[str, Any]:
    """How many documents have each value of a field; a list in it counts for each of its values."""
    rows = collection.documents.filter(stub=False).order_by()
    told = rows.values_list(KeyTextTransform(name, "fields")).annotate(Count("pk"))
    counts: Counter[str] = Counter()
    total = 0
    for value, number in told:
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
    """The values of one document: SQLite answers numbers and `null` as they are, PostgreSQL all of it as text."""
    if value is None or value == "null" or value == "":
        return []
    text = str(value)
    if text.startswith("["):
        try:
            return sorted({str(one) for one in json.loads(text) if one not in (None, "")})
        except (ValueError, TypeError, RecursionError):
            return [text]
    return [text]


def _batches(doc_ids: Sequence[str]) -> Iterator[list[str]]:
    rest = iter(doc_ids)
    while some := list(islice(rest, BATCH)):
        yield some


def _digest(rows: Sequence[tuple[str, str]]) -> str:
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
