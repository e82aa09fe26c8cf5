"""Grades of the three demo raters for answers of the two RAG systems.

The grades were written for the demo by reading the answers under the guidelines of each dimension. Both systems quote
the catalog, so nearly every answer is faithful. ``rater2`` is strict with quotes that miss the question, and the raters
differ about answers that contain only a part of the reference.
"""

from __future__ import annotations

from collections.abc import Mapping

from demo.raters import TEMPERS

SYSTEMS = ("tfidf-lead", "bm25-extract")
# The grades of rater1, rater2 and rater3 for each sample and system.
GRADES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "faithful": {
        "kite": ("222", "222"),
        "bars": ("222", "222"),
        "opening": ("201", "222"),
        "freeze": ("212", "222"),
        "pitch": ("222", "222"),
        "load-other": ("212", "222"),
        "rvalue": ("222", "222"),
        "mittens": ("222", "101"),
        "pots": ("222", "111"),
        "kcal": ("212", "222"),
    },
    "correct": {
        "kite": ("000", "222"),
        "bars": ("222", "222"),
        "opening": ("000", "202"),
        "freeze": ("001", "222"),
        "pitch": ("222", "222"),
        "load-other": ("000", "222"),
        "rvalue": ("000", "222"),
        "mittens": ("212", "000"),
        "pots": ("001", "011"),
        "kcal": ("000", "222"),
    },
}


def answer_grade(dimension: str, sample_id: str, system: str, rater: int) -> tuple[int, float]:
    """Return one rater's grade for one answer, and the seconds that it took."""
    graded = GRADES[dimension]
    grade = int(graded[sample_id][SYSTEMS.index(system)][rater - 1])
    # The middle grade takes longest.
    usual = TEMPERS[rater].seconds * (2.2 if grade == 1 else 1.4)
    return grade, round(usual + list(graded).index(sample_id) * 0.7, 1)
