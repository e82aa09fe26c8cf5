"""Carried labels: labels of unjudged pairs that are taken from equivalent judged pairs.

A carried label is not a judgment, because no rater looked at the pair. It is computed from the label of a judged pair,
and names that pair and the reason. A pair with its own human label keeps it. Each reason is one function that returns
``Carried`` rows; `carried` combines them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from judgments.labels import group_labels
from judgments.models import Collection, Pair, Round

# The reasons. One of several duplicate documents in a pool is judged; the origin of its pair names the others.
DUPLICATE = "duplicate"
# A document was judged for one query of a group, or for several and the label rule decided.
GROUP, GROUP_BY_RULE = "query group", "query group, by the label rule"

MOST_NAMED = 500

Key = tuple[str, str]


class Source(NamedTuple):
    """The judged pair of a carried label, and the reason for carrying it."""

    query_id: str
    doc_id: str
    why: str


@dataclass(frozen=True, order=True)
class Carried:
    """A grade for an unjudged pair."""

    query_id: str
    doc_id: str
    grade: int
    source: Source


def carried(
    rounds: Sequence[Round],
    human: Mapping[Key, int],
    *,
    rule: str = "median",
    judgments: Callable[[], Iterable[group_labels.Row]] = list,
) -> list[Carried]:
    """Return all carried labels, one per pair, in the order of the ids."""
    labels: dict[Key, Carried] = {}
    for one in _of_duplicates(rounds, human):
        if (one.query_id, one.doc_id) not in human:
            labels[one.query_id, one.doc_id] = one
    if rounds and (groups := group_labels.sharing(rounds[0].collection)):
        # A label carried from a duplicate can be carried on, and then names the judged pair.
        known = {**human, **{pair: one.grade for pair, one in labels.items()}}
        scale = rounds[0].scale.values()
        for new in group_labels.shared(groups, known, rule=rule, scale=scale, judgments=judgments):
            judged = labels.get((new.source, new.doc_id))
            source = judged.source[:2] if judged else (new.source, new.doc_id)
            why = GROUP_BY_RULE if new.by_rule else GROUP
            labels[new.query_id, new.doc_id] = Carried(new.query_id, new.doc_id, new.grade, Source(*source, why))
    return sorted(labels.values())


def _of_duplicates(rounds: Sequence[Round], human: Mapping[Key, int]) -> Iterable[Carried]:
    for round_ in rounds:
        for query_id, doc_id, copies in copies_of(Pair.objects.filter(round=round_)):
            if (query_id, doc_id) in human:
                source = Source(query_id, doc_id, DUPLICATE)
                yield from (Carried(query_id, copy["doc_id"], human[query_id, doc_id], source) for copy in copies)


def linked_pairs(collection: Collection, pairs: Iterable[Key]) -> set[Key]:
    """Return these pairs and all pairs whose label would reveal theirs."""
    keys = set(pairs)
    if not keys:
        return keys
    queries = {query_id for query_id, _ in keys}
    groups = group_labels.sharing(collection).values()
    spellings = {query_id: set(group) for group in groups for query_id in group if queries & set(group)}
    near = queries.union(*spellings.values())
    rows = Pair.objects.filter(round__collection=collection)
    # With more ids, the filter would cost more than it saves.
    rows = rows.filter(query__query_id__in=near) if len(near) <= MOST_NAMED else rows
    stands_for = [(query_id, doc_id, copies) for query_id, doc_id, copies in copies_of(rows)]
    keys |= {(other, doc_id) for query_id, doc_id in keys for other in spellings.get(query_id, ())}
    for query_id, doc_id, copies in stands_for:
        if (query_id, doc_id) in keys:
            keys |= {(query_id, copy["doc_id"]) for copy in copies}
    return keys | {(other, doc_id) for query_id, doc_id in keys for other in spellings.get(query_id, ())}


def copies_of(pairs: Any) -> Iterable[tuple[str, str, list[dict[str, Any]]]]:
    """Return query, judged document and its duplicates for each pair that has duplicates."""
    rows = pairs.filter(origin__has_key="copies").order_by("pk")
    columns = rows.values_list("query__query_id", "document__doc_id", "origin__copies")
    copies: Iterable[tuple[str, str, list[dict[str, Any]]]] = columns.iterator(chunk_size=2_000)
    return copies
