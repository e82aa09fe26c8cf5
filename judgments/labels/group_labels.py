"""Labels shared within a query group: a document's label for a query that was judged for another spelling.

This applies only to groups for which a lead enabled sharing. A query's own label always takes precedence. If the
spellings agree, their grade is the label; otherwise the label rule decides over all judgments of the group, as if they
were of one pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.core.ratings import Ratings
from judgments.models import Collection, QueryGroup

# Rules that need all judgments of a rater, and the rule that replaces them within a group.
BY_RATER, INSTEAD = ("dawid-skene",), "median"

Key = tuple[str, str]
# Query, document, rater, grade.
Row = tuple[str, str, str, int]


class Shared(NamedTuple):
    """A label for a query, the judged query it comes from, and whether the label rule decided."""

    query_id: str
    doc_id: str
    grade: int
    source: str
    by_rule: bool


def sharing(collection: Collection) -> dict[str, list[str]]:
    """Return the groups that share judgments: group name to the ids of two or more queries."""
    names = QueryGroup.objects.filter(collection=collection, shares=True).values_list("name", flat=True)
    groups: dict[str, list[str]] = {}
    for name, query_id in collection.queries.filter(group__in=list(names)).values_list("group", "query_id"):
        groups.setdefault(name, []).append(query_id)
    return {name: sorted(queries) for name, queries in sorted(groups.items()) if len(queries) > 1}


def shared(
    groups: Mapping[str, Sequence[str]],
    labels: Mapping[Key, int],
    *,
    rule: str,
    scale: Sequence[int],
    judgments: Callable[[], Iterable[Row]],
) -> Iterator[Shared]:
    """Yield the labels that each query of a group has from the others."""
    judged = _by_query(labels, {query_id for queries in groups.values() for query_id in queries})
    rows: dict[Key, list[Row]] | None = None
    for queries in groups.values():
        documents = sorted({doc_id for query_id in queries for doc_id in judged.get(query_id, ())})
        for doc_id in documents:
            known = {query_id: judged[query_id][doc_id] for query_id in queries if doc_id in judged.get(query_id, ())}
            if len(known) == len(queries):
                continue
            grade: int | None = next(iter(known.values()))
            differ = len(set(known.values())) > 1
            if differ:
                if rows is None:
                    rows = _by_pair(judgments())
                grade = _settled(known, doc_id, rows, rule, scale)
            if grade is None:
                continue
            settled = grade
            source = min(known, key=lambda query_id: (abs(known[query_id] - settled), query_id.encode()))
            yield from (Shared(one, doc_id, settled, source, differ) for one in queries if one not in known)


def _by_query(labels: Mapping[Key, int], wanted: set[str]) -> dict[str, dict[str, int]]:
    by_query: dict[str, dict[str, int]] = {}
    for (query_id, doc_id), grade in labels.items():
        if query_id in wanted:
            by_query.setdefault(query_id, {})[doc_id] = grade
    return by_query


def _by_pair(rows: Iterable[Row]) -> dict[Key, list[Row]]:
    rows_by_pair: dict[Key, list[Row]] = {}
    for row in rows:
        rows_by_pair.setdefault((row[0], row[1]), []).append(row)
    return rows_by_pair


def _settled(
    known: Mapping[str, int], doc_id: str, rows: Mapping[Key, list[Row]], rule: str, scale: Sequence[int]
) -> int | None:
    """Apply the rule to the judgments of all queries of a group; a rater of two of them counts twice."""
    from assay.aggregation import aggregate

    # A label without judgments, such as a label carried from a duplicate, counts as one judgment.
    votes = [
        ("group", doc_id, f"{rater} {query_id}", grade)
        for query_id in known
        for _, _, rater, grade in rows.get((query_id, doc_id)) or [(query_id, doc_id, "", known[query_id])]
    ]
    result = aggregate(Ratings.from_rows(votes), INSTEAD if rule in BY_RATER else rule, tuple(scale))
    label = next(iter(result)).grade
    return None if label is None else int(label)
