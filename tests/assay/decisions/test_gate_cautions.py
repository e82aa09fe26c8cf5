"""Tests of gate cautions: few deciding queries and unjudged documents."""

from __future__ import annotations

import pytest

from assay.core.run import Run
from assay.decisions.gate import Facts, cautions, gate
from tests.assay.decisions.test_gate import labels, ranked

GOOD = Facts(queries=50, missing="zero", unanswered=0, unanswered_by_baseline=0, judged=0.95, judged_of_baseline=0.95)


def run_with_holes(queries: int, holes: int, name: str = "run") -> Run:
    """A run whose top 10 holds so many documents that nobody judged, below a relevant one."""
    documents = ["good", *(f"hole{n}" for n in range(holes)), *(f"bad{n}" for n in range(9 - holes))]
    return Run.from_dict(
        {f"q{n:02}": {doc: float(-at) for at, doc in enumerate(documents)} for n in range(queries)}, name
    )


def test_no_cautions() -> None:
    assert cautions(GOOD, []) == ()
    assert gate(labels(25), ranked([1] * 25), ranked([1] * 25), ["RR >= 1", "drop(RR) <= 0"]).warnings == ()


@pytest.mark.parametrize(
    ("of_candidate", "of_baseline", "message"),
    [
        (4, 0, "60% of the candidate's top 10 is judged, 100% of the baseline's"),
        (1, 0, "90% of the candidate's top 10 is judged, 100% of the baseline's"),
        (0, 1, "the drop larger"),
        (3, 3, "70% of the candidate's top 10 is judged; unjudged documents"),
    ],
)
def test_holes(of_candidate: int, of_baseline: int, message: str) -> None:
    result = gate(labels(25), run_with_holes(25, of_baseline), run_with_holes(25, of_candidate), "RR >= 1")
    assert result.passed
    (warning,) = result.warnings
    assert message in warning


def test_a_gap_of_five_points_is_no_gap_yet() -> None:
    assert cautions(Facts(50, "zero", 0, 0, 0.90, 0.95), []) == ()
    assert cautions(Facts(50, "zero", 0, 0, 0.89, 0.95), []) != ()


def test_few_queries() -> None:
    (warning,) = gate(labels(24), ranked([1] * 24), ranked([1] * 24), "RR >= 1").warnings
    assert warning == "based on 24 queries, fewer than 25: a different sample of queries may give a different result"
    (warning,) = gate(labels(12), ranked([1] * 12), ranked([2] * 7 + [1] * 5), "drop(RR) <= 0.1").warnings
    # sd of seven halves and five zeros is .2575; 2.8 * .2575 / sqrt(12) is .208.
    assert warning.endswith(
        "a true difference in RR of 0.208 is detected with 80% probability, and smaller differences less often"
    )


def test_an_excuse_that_no_drop_could_have_missed() -> None:
    rule = "drop(RR) <= 0.1 unless p >= 0.05"
    result = gate(labels(30), ranked([1] * 30), ranked([0] * 5 + [1] * 25), rule)
    assert result.passed
    assert any("only because 5 of 30 queries differ" in warning for warning in result.warnings)
    failing = gate(labels(30), ranked([1] * 30), ranked([0] * 6 + [1] * 24), rule)
    assert not failing.passed
    assert failing.warnings == ()


def test_queries_that_are_not_answered() -> None:
    run = Run.from_dict({query: of for query, of in ranked([1] * 30).to_dict().items() if query > "q02"}, "run")
    zero = gate(labels(30), ranked([1] * 30), run, "RR >= 0.5")
    assert zero.warnings == ("the candidate does not answer 3 of 30 judged queries, which score 0",)
    skip = gate(labels(30), run, ranked([1] * 30), "RR >= 1", missing="skip")
    assert skip.warnings == ("the baseline does not answer 3 of 30 judged queries, which are left out",)
