"""Doubtful pairs after pairwise comparisons: by the effect of the order shown and by the score error."""

from __future__ import annotations

from typing import Any

from judgments.battle_grades import judges_of, told_parameters
from judgments.battle_scores import fought_rows
from judgments.models import Round
from judgments.preferences.doubts import other_grade, turned
from judgments.preferences.fitting import fit_queries
from judgments.routing import ERROR, TURNED, Doubt

# Below a half the likelier word holds.
FROM = 0.5


def doubts(round_: Round, viewer: Any) -> dict[int, list[Doubt]]:
    """By pair: in which share of its meetings the order decided, and the chance that it is of another grade.

    To a reader who still rates as the pages of battles tell it: without those of a pair that they may be handed, and
    of grades nothing where such a pair was an anchor.
    """
    found: dict[int, list[Doubt]] = {}
    for run in round_.battle_runs.defer("drawn"):
        names, rows = fought_rows(run, viewer)
        keys = {name: pk for pk, name in names.items()}
        for key, share in turned(rows).items():
            if share >= FROM:
                found.setdefault(keys[key], []).append(Doubt(TURNED, share))
        judges = judges_of(run)
        if not judges or "cuts" not in (learnt := told_parameters(judges[0], round_, viewer)):
            continue
        cuts = learnt["cuts"]
        fitted = fit_queries([(row.query_id, row.a, row.b, row.score) for row in rows])
        for query_id, doc_id, score, error in fitted.scores:
            chance = other_grade(score, error, cuts) if error is not None else 0.0
            if chance >= FROM:
                found.setdefault(keys[query_id, doc_id], []).append(Doubt(ERROR, chance))
    return found
