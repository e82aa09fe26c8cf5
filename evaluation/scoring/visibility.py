"""Visibility of scores: which documents, pairs and queries to hide from a reader who may still grade them."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from judgments.labels import carried_labels, group_labels
from judgments.models import Collection, Round, Snapshot
from judgments.snapshots import snapshots
from judgments.web import access


def hidden_documents(user: Any, collection: Collection, query_id: str) -> set[str]:
    """The documents of a query that the user may still have to grade in an open round."""
    return {doc_id for other, doc_id in _hidden(user, collection, query_id) if other == query_id}


def hidden_pairs(user: Any, collection: Collection) -> set[tuple[str, str]]:
    """The pairs, as query and document, that the user may still have to grade in an open round."""
    return _hidden(user, collection)


def withheld_queries(user: Any, snapshot: Snapshot) -> frozenset[str]:
    """The queries of which a score would tell the user something about a grade that they may still have to give.

    A metric's value is made of the grades of its query's documents: with the ranking beside it, it can be read
    backwards. So a query is kept back whole as soon as the snapshot labels one document of it that the user may still
    be handed. Who rates in no open round is kept from nothing.
    """
    return withheld_among(_hidden(user, snapshot.collection), snapshot)


def withheld_among(hidden: Set[tuple[str, str]], snapshot: Snapshot) -> frozenset[str]:
    """The same where the reader's hidden pairs are known already."""
    if not hidden:
        return frozenset()
    labels = snapshots.labels_of(snapshot)
    return frozenset(query_id for query_id, doc_id in hidden if doc_id in labels.get(query_id, {}))


def _hidden(user: Any, collection: Collection, query_id: str = "") -> set[tuple[str, str]]:
    hidden: set[tuple[str, str]] = set()
    groups = group_labels.sharing(collection).values() if query_id else ()
    spellings = next((group for group in groups if query_id in group), [query_id])
    for round_ in Round.objects.open_to(user).filter(collection=collection):
        pairs = access.hidden_pairs(user, round_)
        pairs = pairs.filter(query__query_id__in=spellings) if query_id else pairs
        hidden.update(pairs.values_list("query__query_id", "document__doc_id"))
    # A label that is carried from such a pair to another one tells the same grade.
    return carried_labels.linked_pairs(collection, hidden)
