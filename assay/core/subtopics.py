"""Subtopic labels: a grade for each judged document and each aspect of its query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.text_column import Places

Judged = dict[str, dict[str, dict[str, float]]]


@dataclass(frozen=True, eq=False, slots=True)
class Subtopics:
    """One grade for each judged document and each subtopic of its query."""

    names: tuple[str, ...]
    rows: Places
    codes: Places
    grades: npt.NDArray[np.float64]


def collected(rows: Iterable[tuple[str, str, str, float]]) -> tuple[Judged, int]:
    """Group rows of (query_id, subtopic, doc_id, grade), and count them."""
    judged: Judged = {}
    total = 0
    for query_id, subtopic, doc_id, grade in rows:
        total += 1
        known = judged.setdefault(query_id, {}).setdefault(doc_id, {}).setdefault(subtopic, grade)
        if known != grade:
            where = f"query {query_id!r}, subtopic {subtopic!r}, document {doc_id!r}"
            raise NotValid(f"{where} has two grades, {known} and {grade}; keep one")
    return {query_id: dict(sorted(documents.items(), reverse=True)) for query_id, documents in judged.items()}, total


def table(judged: Judged, pairs: Iterable[tuple[str, str]]) -> Subtopics:
    """Build the table of grades by subtopic; `pairs` contains the query and document of each qrels row."""
    names = tuple(sorted({name for documents in judged.values() for graded in documents.values() for name in graded}))
    code = {name: at for at, name in enumerate(names)}
    graded = [
        (row, code[name], grade)
        for row, (query_id, doc_id) in enumerate(pairs)
        for name, grade in sorted(judged[query_id][doc_id].items())
    ]
    return Subtopics(
        names,
        np.array([row for row, _, _ in graded], dtype=np.int64),
        np.array([at for _, at, _ in graded], dtype=np.int64),
        np.array([grade for _, _, grade in graded], dtype=np.float64),
    )
