"""Doubtful pairs after pairwise comparisons: by the effect of the order shown and by the score error."""

from __future__ import annotations

from typing import Any

from assay.llm.pairwise.cut_points import other_grade, turned
from assay.llm.pairwise.score_fitting import fit_queries
from judgments.hooks import Doubt
from judgments.machines.calibration.pairwise_judges import visible_parameters
from judgments.machines.calibration.routing import ERROR, TURNED
from judgments.machines.pairwise.grades import judges_of
from judgments.machines.pairwise.scores import comparison_rows
from judgments.models import Round

# Below one half, the more likely outcome stands.
FROM = 0.5


def doubts(round_: Round, viewer: Any) -> dict[int, list[Doubt]]:
    """Return for each pair the share of comparisons that the order decided, and the probability of another grade."""
    result: dict[int, list[Doubt]] = {}
    for run in round_.battle_runs.defer("drawn"):
        names, rows = comparison_rows(run, viewer)
        keys = {name: pk for pk, name in names.items()}
        for key, share in turned(rows).items():
            if share >= FROM:
                result.setdefault(keys[key], []).append(Doubt(TURNED, share))
        judges = judges_of(run)
        if not judges or "cuts" not in (learnt := visible_parameters(judges[0], round_, viewer)):
            continue
        cuts = learnt["cuts"]
        fitted = fit_queries([(row.query_id, row.a, row.b, row.score) for row in rows])
        for query_id, doc_id, score, error in fitted.scores:
            chance = other_grade(score, error, cuts) if error is not None else 0.0
            if chance >= FROM:
                result.setdefault(keys[query_id, doc_id], []).append(Doubt(ERROR, chance))
    return result
