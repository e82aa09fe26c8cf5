"""Human grades of a collection's pairs, and the texts of its queries and documents."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low
from typing import TYPE_CHECKING

from judgments.labels import carried_labels, group_labels
from judgments.models import Collection, Judgment, Pair, Round
from judgments.models.fields import rows_among

if TYPE_CHECKING:
    from assay.strategies.strategy import Wording

UNFINISHED = (Round.State.DRAFT, Round.State.OPEN)


def judged_pairs(collection: Collection) -> frozenset[tuple[str, str]]:
    """Return the pairs with a counted human grade in any round, and the pairs that such a grade carries over to."""
    from assay.strategies.query_groups import spread

    rows = Pair.objects.filter(round__collection=collection, slots__filled_by__state="graded")
    duplicates = carried_labels.copies_of(rows)
    also = ((query_id, copy["doc_id"]) for query_id, _, some in duplicates for copy in some)
    judged = frozenset([*rows.values_list("query__query_id", "document__doc_id"), *also])
    return frozenset(spread(dict.fromkeys(judged), group_labels.sharing(collection).values()))


def known_pairs(collection: Collection, queries: Sequence[str] | None = None) -> dict[tuple[str, str], float | None]:
    """Return the lower median of each pair's human grades; None for a pair that still waits for a rating."""
    from assay.strategies.query_groups import spread

    groups = group_labels.sharing(collection)
    if queries is not None:
        requested = set(queries)
        queries = sorted(requested.union(*(some for some in groups.values() if requested.intersection(some))))
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
    known: dict[tuple[str, str], float | None] = {pair: median_low(values) for pair, values in grades.items()}
    known |= dict.fromkeys(names)
    for query_id, doc_id, some in carried_labels.copies_of(
        Pair.objects.filter(round__collection=collection, **of_pair)
    ):
        # A duplicate has the grade of the document through which it is judged.
        if (query_id, doc_id) in known:
            for copy in some:
                known.setdefault((query_id, copy["doc_id"]), known[query_id, doc_id])
    return spread(known, groups.values())


def wording(collection: Collection) -> Wording:
    """Return the texts of a collection's queries, and a reader of the texts of documents."""
    from assay.strategies.strategy import Wording

    documents = collection.documents.filter(stub=False)

    def texts(doc_ids: Sequence[str]) -> list[str]:
        rows = rows_among(documents.values_list("doc_id", "title", "text"), "doc_id", doc_ids)
        words = {doc_id: f"{title} {text}" for doc_id, title, text in rows}
        return [words.get(doc_id, "") for doc_id in doc_ids]

    return Wording(dict(collection.queries.values_list("query_id", "text")), texts)
