"""Matching of a run's documents to the labels.

Ids are not joined as texts. A key of query and document is checked against a table of the first bits of all judged
keys, the remaining keys are looked up among the sorted judged keys, and each match is confirmed by comparing the ids.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.grouping import pair_keys, spans
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings
from assay.metrics.judged_subtopics import JudgedSubtopics


@dataclass(frozen=True, eq=False)
class Match:
    """A run matched with the labels."""

    codes: Integers
    starts: Integers
    rows: Integers
    rankings: JudgedRankings


def match(qrels: Qrels, run: Run) -> Match:
    """Find the judged documents of a run."""
    codes = np.array([qrels.codes.get(query_id, -1) for query_id in run.query_ids], dtype=np.int64)
    judged = codes >= 0
    sizes = run.offsets[1:] - run.offsets[:-1]
    rows, places = _judged_rows(qrels, run, np.repeat(codes, sizes))
    codes, starts, sizes = codes[judged], run.offsets[:-1][judged], sizes[judged]
    offsets = np.concatenate((np.searchsorted(rows, starts), [len(rows)]))
    counts = offsets[1:] - offsets[:-1]
    begins, judgments = qrels.offsets[codes], qrels.offsets[codes + 1] - qrels.offsets[codes]
    return Match(
        codes,
        starts,
        rows,
        JudgedRankings(
            returned=sizes,
            offsets=offsets,
            ranks=rows - np.repeat(starts, counts) + 1,
            grades=qrels.grades[places],
            judged=_of_queries(qrels.descending, begins, judgments),
            judged_offsets=np.concatenate(([0], np.cumsum(judgments))),
            subtopics=JudgedSubtopics.of(qrels, qrels.subtopics, codes, places) if qrels.subtopics else None,
        ),
    )


def shares_documents(qrels: Qrels, run: Run) -> bool:
    """Return whether any document of a run is judged for any query; if not, the ids may not correspond."""
    return bool(np.isin(run.doc_ids.keys(), qrels.doc_ids.keys()).any())


def _judged_rows(qrels: Qrels, run: Run, code: Integers) -> tuple[Integers, Integers]:
    """Return the rows of the run that are judged, and the row of the qrels for each."""
    rows, places = qrels.index.find(pair_keys(code, run.doc_ids))
    same = run.doc_ids.same(rows, qrels.doc_ids, places) & (qrels.query_of[places] == code[rows])
    if same.all():
        return rows, places
    foreign = code[rows] < 0
    if (same | foreign).all():
        return rows[~foreign], places[~foreign]
    return _by_text(qrels, run, code)


def _by_text(qrels: Qrels, run: Run, code: Integers) -> tuple[Integers, Integers]:
    """Return the same from the texts alone, in case two different ids have the same key."""
    place = {pair: at for at, pair in enumerate(zip(qrels.query_of.tolist(), qrels.doc_ids, strict=True))}
    pairs = [
        (row, place[pair]) for row, pair in enumerate(zip(code.tolist(), run.doc_ids, strict=True)) if pair in place
    ]
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def _of_queries(grades: Floats, begins: Integers, counts: Integers) -> Floats:
    if len(begins) and int(counts.sum()) == len(grades) and (begins[1:] > begins[:-1]).all():
        return grades
    chosen: Floats = grades[spans(begins, counts)]
    return chosen
