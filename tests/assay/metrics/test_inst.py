"""Tests of INST: the gain per inspected document of a reader who adapts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import polygamma

from assay.core.errors import NotValid
from assay.metrics.inst import trigamma
from assay.metrics.metric import parse_metric
from tests.assay.metrics.generated_cases import LABELS, RUN, Grades, Judged, check, labels, per_query, rankings


def slow(ranked: list[str], grades: Grades, target: float, low: float, top: float, depth: int) -> float:
    gains = [min(max((grades.get(doc_id, low) - low) / (top - low), 0.0), 1.0) for doc_id in ranked[:depth]]
    gains += [0.0] * (depth - len(gains))
    chance, chances, wanted = 1.0, [], target
    for rank, gain in enumerate(gains, 1):
        chances.append(chance)
        wanted -= gain
        chance *= ((rank + target + wanted - 1) / (rank + target + wanted)) ** 2
    return sum(c * g for c, g in zip(chances, gains, strict=True)) / sum(chances)


@settings(max_examples=40)
@given(labels(), rankings())
def test_it_is_the_definition(judged: Judged, scores: Judged) -> None:
    check(judged, scores, "INST(max_rel=3)", lambda ranked, grades: slow(ranked, grades, 1, 0, 3, 1000))
    check(judged, scores, "INST(T=2.5,max_rel=3,depth=5)", lambda ranked, grades: slow(ranked, grades, 2.5, 0, 3, 5))
    check(judged, scores, "INST(T=0.5,min_rel=1,max_rel=3)", lambda r, grades: slow(r, grades, 0.5, 1, 3, 1000))


@pytest.mark.parametrize(
    ("metric", "theirs"),
    [
        ("INST(T=1,max_rel=3)", [0.20193239119258877, 0.6449926764105405, 0.0, 0.37939405183781716]),
        ("INST(T=2,max_rel=3)", [0.21049636939726651, 0.3267764411031287, 0.0, 0.2273114721945211]),
        ("INST(T=0.5,max_rel=3)", [0.1334219082274295, 1.0, 0.0, 0.6014622534477301]),
        ("INST(T=2.5,min_rel=1,max_rel=3)", [0.13434919520332947, 0.22098357990059153, 0.0, 0.12012871582695742]),
    ],
)
def test_cwl_eval_agrees(metric: str, theirs: list[float]) -> None:
    """From cwl-eval 1.0.12 as ir_measures 0.4.3 runs it on the same case."""
    assert list(per_query(LABELS, RUN, metric).values()) == pytest.approx(theirs, abs=1e-12)


def test_trigamma_is_scipys() -> None:
    x = np.concatenate([np.linspace(0.01, 30, 3000), [1e3, 1e6]])
    assert trigamma(x) == pytest.approx(polygamma(1, x), rel=1e-14)


def test_by_hand_over_two_ranks() -> None:
    # T = 1, the first document gains 1: T_1 = 0, C_1 = (1/2)^2. The weights are 1 and 1/4 over their sum.
    value = per_query({"q": {"a": 1}}, {"q": {"a": 1.0}}, "INST(T=1,max_rel=1,depth=2)")["q"]
    assert value == pytest.approx(1 / 1.25)


def test_documents_after_the_last_rank_are_ignored() -> None:
    judged = {"q": {"a": 1, "b": 1}}
    near, far = ({"q": {"a": 3.0, "u": 2.0, "b": 1.0}}, {"q": {"a": 3.0, "u": 2.0}})
    assert per_query(judged, near, "INST(max_rel=1,depth=2)") == per_query(judged, far, "INST(max_rel=1,depth=2)")


def test_a_grade_above_the_top_is_refused_and_one_scale_without_positive_grades_is_0() -> None:
    with pytest.raises(NotValid, match="the grade 3, above max_rel=2"):
        per_query({"q": {"a": 3}}, {"q": {"a": 1.0}}, "INST(max_rel=2)")
    assert per_query({"q": {"a": 0}}, {"q": {"a": 1.0}}, "INST") == {"q": 0.0}
    assert per_query({"q": {"a": -1}}, {"q": {"a": 1.0}}, "INST") == {"q": 0.0}


def test_its_name_is_read_as_ir_measures_writes_it() -> None:
    assert parse_metric("INST(T=1,min_rel=0,max_rel=3)").name == "INST(max_rel=3)"
    assert parse_metric("inst(t=2.5, min_rel=1, max_rel=3)").name == "INST(T=2.5,min_rel=1,max_rel=3)"
    for value in ("-1", "low", "inf"):
        with pytest.raises(NotValid, match=f"min_rel must be a number of 0 or more, not '{value}'"):
            parse_metric(f"INST(min_rel={value})")
