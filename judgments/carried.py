"""Carried labels: labels given to unjudged pairs because judging them would add nothing new.

A carried label is not a judgment: no rater looked at that pair. It is made when labels are computed, from the one
final label of a judged pair, and it names that pair and the reason. A pair with a human label of its own keeps it.
There is one mechanism for every reason; a reason is one function that returns ``Carried`` rows, combined in
`carried`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from judgments import group_labels
from judgments.models import Collection, Pair, Round

# The reasons. Of a pool's documents that say the same, one is judged: its pair's origin names the others.
DUPLICATE = "duplicate"
# Of the spellings of one need, one was judged with the document; or several were, and the label rule decided.
GROUP, GROUP_BY_RULE = "query group", "query group, by the label rule"

MOST_NAMED = 500

Key = tuple[str, str]


class Source(NamedTuple):
    """The judged pair that a label comes from, and why it holds for the other one."""

    query_id: str
    doc_id: str
    why: str


@dataclass(frozen=True, order=True)
class Carried:
    """A grade for a pair that nobody judged."""

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
    """All labels that are carried, each pair once, in the order of the ids.

    Parameters
    ----------
    rounds : sequence of Round
        Whose pairs were judged, the oldest first: the newest round wins.
    human : mapping of (query_id, doc_id) to grade
        The settled labels of these rounds. A pair that is here takes no other label.
    rule, judgments
        The label rule, and what answers the judgments behind the labels, for spellings of one need that differ.
    """
    found: dict[Key, Carried] = {}
    for one in _of_duplicates(rounds, human):
        if (one.query_id, one.doc_id) not in human:
            found[one.query_id, one.doc_id] = one
    if rounds and (groups := group_labels.sharing(rounds[0].collection)):
        # A document that has its label from a copy hands it on, and names the pair that was judged.
        known = {**human, **{pair: one.grade for pair, one in found.items()}}
        scale = rounds[0].scale.values()
        for new in group_labels.shared(groups, known, rule=rule, scale=scale, judgments=judgments):
            judged = found.get((new.source, new.doc_id))
            source = judged.source[:2] if judged else (new.source, new.doc_id)
            why = GROUP_BY_RULE if new.by_rule else GROUP
            found[new.query_id, new.doc_id] = Carried(new.query_id, new.doc_id, new.grade, Source(*source, why))
    return sorted(found.values())


def _of_duplicates(rounds: Sequence[Round], human: Mapping[Key, int]) -> Iterable[Carried]:
    for round_ in rounds:
        for query_id, doc_id, copies in copies_of(Pair.objects.filter(round=round_)):
            if (query_id, doc_id) in human:
                source = Source(query_id, doc_id, DUPLICATE)
                yield from (Carried(query_id, copy["doc_id"], human[query_id, doc_id], source) for copy in copies)


def told_by(collection: Collection, pairs: Iterable[Key]) -> set[Key]:
    """These pairs and all whose label would tell theirs: whoever must not see the one must not see the other.

    Parameters
    ----------
    collection : Collection
        Whose rounds say which document stands for which, and whose groups share their judgments.
    pairs : iterable of (query_id, doc_id)
        What is to stay untold.
    """
    found = set(pairs)
    if not found:
        return found
    queries = {query_id for query_id, _ in found}
    groups = group_labels.sharing(collection).values()
    spellings = {query_id: set(group) for group in groups for query_id in group if queries & set(group)}
    near = queries.union(*spellings.values())
    rows = Pair.objects.filter(round__collection=collection)
    # So many names make a longer question than they save.
    rows = rows.filter(query__query_id__in=near) if len(near) <= MOST_NAMED else rows
    stands_for = [(query_id, doc_id, copies) for query_id, doc_id, copies in copies_of(rows)]
    found |= {(other, doc_id) for query_id, doc_id in found for other in spellings.get(query_id, ())}
    for query_id, doc_id, copies in stands_for:
        if (query_id, doc_id) in found:
            found |= {(query_id, copy["doc_id"]) for copy in copies}
    return found | {(other, doc_id) for query_id, doc_id in found for other in spellings.get(query_id, ())}


def copies_of(pairs: Any) -> Iterable[tuple[str, str, list[dict[str, Any]]]]:
    """Query, judged document and the documents that it stands for, for each of the pairs that stands for any.

    Parameters
    ----------
    pairs : QuerySet of Pair
        In the order in which they are wanted.
    """
    rows = pairs.filter(origin__has_key="copies").order_by("pk")
    told = rows.values_list("query__query_id", "document__doc_id", "origin__copies")
    found: Iterable[tuple[str, str, list[dict[str, Any]]]] = told.iterator(chunk_size=2_000)
    return found
