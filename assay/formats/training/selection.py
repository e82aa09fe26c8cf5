"""Selection of training data from judgments: positives, hard negatives and graded pairs.

A negative is a document with a judgment below the grade of a positive and at most 0. Documents without a judgment are
taken only on request, and are marked in the file.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.formats.documents import document_texts
from assay.formats.row_types import DocumentRow, GradedPairRow, LabelRow, Passage, RunRow, TripletRow
from assay.formats.writer import MAX_SHOWN

Ranks = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Selected:
    """Rows of a training file, with notes on what was left out."""

    rows: Sequence[TripletRow] | Sequence[GradedPairRow]
    notes: tuple[str, ...] = ()


def select_triplets(
    labels: Iterable[LabelRow],
    queries: Mapping[str, str],
    documents: Iterable[DocumentRow],
    runs: Iterable[RunRow] = (),
    *,
    negatives: int = 8,
    relevant: float = 1,
    unjudged: bool = False,
    seed: int = 0,
) -> Selected:
    """Return the positives of each query with hard negatives.

    Parameters
    ----------
    labels : iterable of LabelRow
        Grades of pairs; a missing grade is not a judgment.
    queries : mapping of str to str
        Texts of the queries.
    documents : iterable of DocumentRow
        Documents with their texts.
    runs : iterable of RunRow
        Results of systems. Negatives that a system ranks higher are harder, and come first.
    negatives : int
        Largest number of negatives of a query.
    relevant : float
        Lowest grade of a positive; must be above 0.
    unjudged : bool
        Whether the highest-ranked documents without a judgment follow if a query has too few judged negatives.
    seed : int
        Order of the negatives that no run returns.
    """
    if negatives < 1 or relevant <= 0:
        raise NotValid("negatives must be 1 or more, and relevant above 0")
    ranks = _best_ranks(runs)
    if unjudged and not ranks:
        raise NotValid("unjudged negatives are chosen by their ranks; name the runs (--runs)")
    texts, grades = document_texts(documents), _grades(labels)
    needed = [doc for of in grades.values() for doc, grade in of.items() if grade >= relevant or grade <= 0]
    _refuse_missing("query", "queries", (one for one in grades if one not in queries), "queries")
    _refuse_missing("document", "documents", (one for one in needed if one not in texts), "documents")
    rows: list[TripletRow] = []
    skipped, extra, copies = 0, 0, 0
    for query_id, of in sorted(grades.items()):
        positives = [Passage(doc, texts[doc], grade) for doc, grade in _by_grade(of) if grade >= relevant]
        known = {one.text: one.doc_id for one in positives}
        judged = [doc_id for doc_id, grade in of.items() if grade <= 0]
        if twin := next((doc_id for doc_id in sorted(judged) if texts[doc_id] in known), None):
            same = f"documents {known[texts[twin]]!r} and {twin!r} have the same text"
            raise NotValid(
                f"query {query_id!r}: {same}, but only the first is relevant; correct the judgments of duplicates"
            )
        chosen = [Passage(doc_id, texts[doc_id], of[doc_id]) for doc_id in _hardest(judged, query_id, ranks, seed)]
        if unjudged and len(chosen) < negatives:
            others = [doc_id for doc_id in _ranked(ranks.get(query_id, {})) if doc_id not in of and doc_id in texts]
            copies += sum(texts[doc_id] in known for doc_id in others)
            fresh = [Passage(doc_id, texts[doc_id], judged=False) for doc_id in others if texts[doc_id] not in known]
            extra += len(fresh[: negatives - len(chosen)])
            chosen += fresh
        if positives and chosen:
            rows.append(TripletRow(query_id, queries[query_id], tuple(positives), tuple(chosen[:negatives])))
        else:
            skipped += 1
    notes = []
    if skipped:
        notes.append(f"{amount(skipped, 'query', 'queries')} without a positive or a negative left out")
    if extra:
        notes.append(f"{amount(extra, 'negative')} without a judgment, marked in the file")
    if copies:
        notes.append(f"{amount(copies, 'unjudged document')} with the text of a positive left out")
    return Selected(rows, tuple(notes))


def select_graded_pairs(
    labels: Iterable[LabelRow],
    queries: Mapping[str, str],
    documents: Iterable[DocumentRow],
    *,
    highest: float | None = None,
) -> Selected:
    """Return all judged pairs with their grades, or with their shares of the highest grade."""
    if highest is not None and highest <= 0:
        raise NotValid("highest must be above 0, such as 3 for a scale from 0 to 3")
    texts, grades = document_texts(documents), _grades(labels)
    _refuse_missing("query", "queries", (one for one in grades if one not in queries), "queries")
    _refuse_missing(
        "document", "documents", (doc for of in grades.values() for doc in of if doc not in texts), "documents"
    )
    over = [
        grade for of in grades.values() for grade in of.values() if highest is not None and not 0 <= grade <= highest
    ]
    if over:
        raise NotValid(f"the grade {over[0]:g} is not between 0 and {highest:g}; set highest to the top of the scale")
    pairs = [
        GradedPairRow(query_id, queries[query_id], doc_id, texts[doc_id], grade / (highest or 1))
        for query_id, of in sorted(grades.items())
        for doc_id, grade in sorted(of.items())
    ]
    return Selected(pairs)


# Selections by the kind of the file.
SELECTIONS: dict[str, Callable[..., Selected]] = {
    "triplets": select_triplets,
    "graded-pairs": select_graded_pairs,
}


def _grades(labels: Iterable[LabelRow]) -> dict[str, dict[str, float]]:
    grades: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for row in labels:
        if row.grade is not None:
            grades[row.query_id][row.doc_id] = row.grade
    return grades


def _best_ranks(runs: Iterable[RunRow]) -> Ranks:
    """Return the best rank of each document in any run; equal scores count as trec_eval orders them."""
    systems: defaultdict[tuple[str, str], list[RunRow]] = defaultdict(list)
    for row in runs:
        systems[row.tag, row.query_id].append(row)
    best: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (_, query_id), rows in systems.items():
        ordered = sorted(rows, key=lambda row: (row.score, row.doc_id), reverse=True)
        for rank, row in enumerate(ordered, 1):
            best[query_id][row.doc_id] = min(rank, best[query_id].get(row.doc_id, rank))
    return best


def _by_grade(grades: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(grades.items(), key=lambda one: (-one[1], one[0]))


def _ranked(ranks: Mapping[str, int]) -> list[str]:
    return sorted(ranks, key=lambda doc_id: (ranks[doc_id], doc_id))


def _hardest(doc_ids: Iterable[str], query_id: str, ranks: Ranks, seed: int) -> list[str]:
    """Return documents by their best rank, followed by those that no run returns in a random order."""
    of = ranks.get(query_id, {})

    def order(doc_id: str) -> tuple[int, bytes]:
        # A hash depends neither on the other documents nor on the version of Python.
        return of.get(doc_id, len(of) + 1), hashlib.sha256(f"{seed}\x1f{query_id}\x1f{doc_id}".encode()).digest()

    return sorted(doc_ids, key=order)


def _refuse_missing(one: str, several: str, ids: Iterable[str], option: str) -> None:
    missing = sorted(set(ids))
    if missing:
        shown = ", ".join(map(repr, missing[:MAX_SHOWN]))
        more = f" and {len(missing) - MAX_SHOWN:,} more" if missing[MAX_SHOWN:] else ""
        what = f"{amount(len(missing), one, several)} with judgments but no text: {shown}{more}"
        raise NotValid(f"{what}; add the texts (--{option})")
