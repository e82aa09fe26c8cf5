"""Agreement between two people on the pairs of a judge's calibration: the upper limit to expect of a machine."""

from __future__ import annotations

from collections.abc import Set
from itertools import combinations
from typing import TYPE_CHECKING, Any

from evaluation.effects.round_runs import is_large, state_key
from judgments.jobs.single_flight import compute_once
from judgments.labels import grade_visibility, rating_rows
from judgments.labels.round_labels import Key
from judgments.machines.calibration import calibration
from judgments.machines.calibration.paired_labels import alike
from judgments.models import Judge, Round

if TYPE_CHECKING:
    from assay.coefficients.coefficient import Agreement

DAY = 24 * 3600
FORM = 2
WEIGHTS = ("unweighted", "quadratic")


def two_people(round_: Round, judge: Judge, viewer: Any, *, over: str) -> dict[str, Agreement]:
    """Compute the kappa of two people on the pairs that several people graded, for comparison with a judge's kappa."""
    if is_large(round_):
        return {}
    hidden = frozenset(
        grade_visibility.pairs_with_hidden_grades(viewer, round_).values_list("query__query_id", "document__doc_id")
    )
    here = frozenset(round_.pairs.values_list("query__query_id", "document__doc_id")) - hidden
    inside = here & calibration.slice_keys(judge, round_) if over == "slice" else here
    rounds = alike(round_)
    states = [state_key(one, []) for one in rounds]
    key = f"two-people:{FORM}:{state_key(round_, [], states, str(judge.uuid), over, sorted(hidden))}"
    return compute_once(key, lambda: _computed(rounds, round_, here, inside), keep=DAY)


def _computed(rounds: list[Round], round_: Round, here: Set[Key], inside: Set[Key]) -> dict[str, Agreement]:
    met = _met(rounds, here)
    chosen = [one for one in met if one[0] in inside] or met
    return {weights: _kappa(chosen, weights, round_) for weights in WEIGHTS}


def _met(rounds: list[Round], here: Set[Key]) -> list[tuple[Key, int, int]]:
    """Return every two planned grades of a pair in one round, without extra ratings after a disagreement."""
    grade_pairs: list[tuple[Key, int, int]] = []
    for round_ in rounds:
        grades: dict[Key, list[int]] = {}
        for query_id, doc_id, _, grade in rating_rows.rating_rows(round_, planned=True):
            if (query_id, doc_id) in here:
                grades.setdefault((query_id, doc_id), []).append(grade)
        grade_pairs += [(key, *two) for key, given in grades.items() for two in combinations(given, 2)]
    return grade_pairs


def _kappa(met: list[tuple[Key, int, int]], weights: str, round_: Round) -> Agreement:
    from dataclasses import replace

    import numpy as np

    from assay.coefficients.cohen import cohen_kappa
    from assay.coefficients.human_machine import RESAMPLES

    first, second = [one for _, one, _ in met], [two for _, _, two in met]
    _, clusters = np.unique([query_id for (query_id, _), _, _ in met], return_inverse=True)
    kappa = cohen_kappa(
        [*first, *second],
        [*second, *first],
        weights,
        values=round_.scale.values(),
        clusters=np.concatenate([clusters, clusters]).astype(np.int64),
        resamples=RESAMPLES,
        seed=round_.seed,
    )
    return replace(kappa, n=len(met), ratings=2 * len(met))
