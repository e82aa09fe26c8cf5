"""Tests of corrected p-values: equal to the authors' examples and scipy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from assay.significance import CORRECTIONS
from assay.significance.corrections import corrected

# The 15 p of Benjamini and Hochberg 1995, section 4.
PAPER = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
    *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0),
]
SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@pytest.mark.parametrize(("correction", "rejected"), [("bonferroni", 3), ("holm", 3), ("bh", 4)])
def test_the_example_of_the_paper(correction: str, rejected: int) -> None:
    assert sum(value is not None and value <= 0.05 for value in corrected(PAPER, correction)) == rejected


@given(SHARES)
def test_bh_is_scipys(values: list[float]) -> None:
    assert corrected(values, "bh") == pytest.approx(false_discovery_control(values).tolist(), abs=1e-12)


def test_holm_by_hand() -> None:
    assert corrected([0.04, 0.01, 0.03, 0.005], "holm") == pytest.approx([0.06, 0.03, 0.06, 0.02])


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_undefined_p_values_stay_undefined_and_leave_the_family(correction: str) -> None:
    result = corrected([0.01, None, 0.02], correction)
    assert [result[0], result[2]] == corrected([0.01, 0.02], correction)
    assert result[1] is None
    assert corrected([None], correction) == [None]


@pytest.mark.parametrize("correction", CORRECTIONS)
@given(values=SHARES)
def test_a_correction_keeps_the_order_and_never_helps(correction: str, values: list[float]) -> None:
    rows = [value or 0.0 for value in corrected(values, correction)]
    assert all(value <= after <= 1 for value, after in zip(values, rows, strict=True))
    assert sorted(rows) == [after for _, after in sorted(zip(values, rows, strict=True))]


@given(values=SHARES)
def test_holm_is_never_weaker_than_bonferroni(values: list[float]) -> None:
    holm, bonferroni = corrected(values, "holm"), corrected(values, "bonferroni")
    assert all((a or 0.0) <= (b or 0.0) for a, b in zip(holm, bonferroni, strict=True))


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_one_comparison_needs_no_correction(correction: str) -> None:
    assert corrected([0.03], correction) == [0.03]
