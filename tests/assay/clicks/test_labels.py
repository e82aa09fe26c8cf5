"""Tests of labels from clicks: equal to the formulas."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.clicks import CLICK_MODELS
from assay.clicks.click_counts import Evidence, count_clicks
from assay.clicks.click_model import Clicked
from assay.clicks.labeling import ClickLabels, Rules, label, rank_rates
from assay.core.errors import NotValid
from assay.formats.row_types import ClickRow

# Rates by rank: 45 / 150 = 0.3 and 15 / 150 = 0.1; overall 60 / 300 = 0.2.
WORKED = [
    ClickRow("tent", "d1", 1, 100, 20),
    ClickRow("tent", "d2", 2, 100, 5),
    ClickRow("boots", "d3", 1, 50, 25),
    ClickRow("boots", "d4", 2, 50, 10),
]
CELLS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(1, 3), st.integers(1, 60), st.integers(0, 60)),
    min_size=1,
    max_size=12,
)


def by_pair(evidence: Evidence, matches: ClickLabels) -> dict[tuple[str, str], float]:
    pairs = zip(matches.query.tolist(), matches.document.tolist(), matches.labels.tolist(), strict=True)
    return {(evidence.queries[query][1], evidence.documents[doc]): value for query, doc, value in pairs}


def labels_of(rows: list[ClickRow], rules: Rules) -> dict[tuple[str, str], float]:
    evidence = count_clicks(rows)
    return by_pair(evidence, label(evidence, rules))


def rows_of(cells: list[tuple[str, str, int, int, int]]) -> list[ClickRow]:
    return [ClickRow(query, doc, rank, shown, min(shown, clicks)) for query, doc, rank, shown, clicks in cells]


def test_worked_by_hand() -> None:
    coec = labels_of(WORKED, Rules("coec"))
    assert coec == pytest.approx(
        {("tent", "d1"): 25 / 35, ("tent", "d2"): 10 / 15, ("boots", "d3"): 30 / 20, ("boots", "d4"): 15 / 10}
    )
    ctr = labels_of(WORKED, Rules("ctr"))
    assert ctr == pytest.approx(
        {("tent", "d1"): 24 / 120, ("tent", "d2"): 9 / 120, ("boots", "d3"): 29 / 70, ("boots", "d4"): 14 / 70}
    )
    # Without a prior worth the name, the textbook's values.
    assert labels_of(WORKED, Rules("coec", strength=1e-9))["tent", "d1"] == pytest.approx(20 / 30)
    assert labels_of(WORKED, Rules("ctr", strength=1e-9))["boots", "d3"] == pytest.approx(0.5)


def test_the_interval_is_the_prior_s() -> None:
    """Quantiles of chi-squared with 50 degrees of freedom, as tables print them: 32.357 and 71.420."""
    result = label(count_clicks(WORKED), Rules("coec"))
    assert (result.low[0], result.high[0]) == pytest.approx((32.357 / 70, 71.420 / 70), abs=1e-5)
    # Beta(1, 1) has its quantiles at 0.025 and 0.975: one usual click and one usual miss, and nothing seen but a prior.
    rows = [ClickRow("a", "x", 1, 50, 25), ClickRow("a", "y", 1, 50, 25)]
    few = label(count_clicks(rows), Rules("ctr", strength=2.0))
    assert few.value.tolist() == [0.5, 0.5]
    # Beta(26, 26), symmetric about a half; its standard deviation is 0.5 / sqrt(53).
    assert few.low[0] + few.high[0] == pytest.approx(1)
    assert (few.high[0] - few.low[0]) / 2 == pytest.approx(1.96 * 0.5 / 53**0.5, rel=0.01)


@pytest.mark.shared
def test_the_prototype_agrees(shared: Path) -> None:
    """The formulas of the project's study, on a log of its own making."""
    theirs = runpy.run_path(str(shared.parent / "prototypes" / "statistics" / "clicks_coec.py"))
    rng = np.random.default_rng(3)
    impressions = rng.integers(0, 40, (6, 4))
    clicks = rng.binomial(impressions, 0.3)
    cells = [(doc, rank) for doc in range(6) for rank in range(4) if impressions[doc, rank]]
    rows = [ClickRow("q", f"d{d}", r + 1, int(impressions[d, r]), int(clicks[d, r])) for d, r in cells]
    rates = clicks.sum(0) / impressions.sum(0)
    expected = theirs["coec_smoothed"](impressions, clicks.sum(1), rates)
    raw = theirs["coec"](impressions, clicks.sum(1), rates)
    result = labels_of(rows, Rules("coec", least_impressions=1))
    assert [result["q", f"d{doc}"] for doc in range(6)] == pytest.approx(expected.tolist())
    result = labels_of(rows, Rules("coec", least_impressions=1, strength=1e-9))
    assert [result["q", f"d{doc}"] for doc in range(6)] == pytest.approx(raw.tolist(), rel=1e-6)


@pytest.mark.parametrize("model", CLICK_MODELS)
@settings(max_examples=40)
@given(cells=CELLS, more=st.integers(0, 40), at=st.integers(0, 11))
def test_more_clicks_never_lower_a_label(
    model: str, cells: list[tuple[str, str, int, int, int]], more: int, at: int
) -> None:
    """With the same places; what a log's own places bring changes with each of its clicks."""
    usual = rows_of(cells)
    at %= len(cells)
    richer = [*usual]
    richer[at] = replace(usual[at], clicks=min(usual[at].impressions, usual[at].clicks + more))
    rules = Rules(model, least_impressions=1, baseline=(0.4, 0.2, 0.1))
    anchor = [ClickRow("anchor", "m", 1, 10_000, 1_000), ClickRow("anchor", "n", 2, 10_000, 1_000)]
    before, after = (labels_of([*rows, *anchor], rules) for rows in (usual, richer))
    assert set(before) == set(after)
    pair = (usual[at].query, usual[at].doc_id)
    assert after[pair] >= before[pair]


@pytest.mark.parametrize("model", CLICK_MODELS)
def test_the_interval_holds_the_label_and_narrows(model: str) -> None:
    member = CLICK_MODELS[model]
    counts, shown = np.arange(0.0, 60.0), np.full(60, 60.0)
    result = member.estimate(Clicked(counts, shown, shown / 5, 0.2), member.strength, 0.95)
    assert (np.diff(result.value) > 0).all()
    assert ((result.low < result.value) & (result.value < result.high)).all()
    many = member.estimate(Clicked(counts * 100, shown * 100, shown * 20, 0.2), member.strength, 0.95)
    assert (many.high - many.low < result.high - result.low).all()
    assert member.usual(0.2) == {"coec": 1.0, "ctr": 0.2}[model]


@settings(max_examples=40)
@given(cells=CELLS)
def test_only_what_was_shown_often_enough_has_a_label(cells: list[tuple[str, str, int, int, int]]) -> None:
    rows = [*rows_of(cells), ClickRow("known", "m", 1, 100, 20)]
    shown: dict[tuple[str, str], int] = {}
    for row in rows:
        shown[row.query, row.doc_id] = shown.get((row.query, row.doc_id), 0) + row.impressions
    result = labels_of(rows, Rules(least_impressions=30)) if sum(row.clicks for row in rows) else {}
    assert set(result) == {pair for pair, number in shown.items() if number >= 30}


@settings(max_examples=25)
@given(cells=CELLS, seed=st.randoms())
def test_neither_the_order_nor_the_layout_of_a_log_matters(cells: list[tuple[str, str, int, int, int]], seed) -> None:
    counted = [*rows_of(cells), ClickRow("known", "m", 1, 10, 2)]
    single = [
        replace(row, impressions=1, clicks=int(number < row.clicks))
        for row in counted
        for number in range(row.impressions)
    ]
    seed.shuffle(single)
    rules = Rules(least_impressions=1)
    assert labels_of(single, rules) == pytest.approx(labels_of(counted, rules))


def test_a_baseline_that_is_given_takes_the_place_of_the_log_s_own() -> None:
    result = labels_of(WORKED, Rules("coec", baseline=(0.5, 0.2)))
    assert result["tent", "d1"] == pytest.approx((20 + 5) / (50 + 5))
    assert [rank.rate for rank in rank_rates(count_clicks(WORKED), (0.5, 0.2))] == [0.5, 0.2]
    for baseline, expected in (((0.5,), "the log has the rank 2"), ((0.5, 1.2), "the rate 1.2")):
        with pytest.raises(NotValid, match=expected):
            label(count_clicks(WORKED), Rules(baseline=baseline))
    with pytest.raises(NotValid, match="rows without a position"):
        label(count_clicks([ClickRow("a", "x", None, 10, 2)]), Rules(baseline=(0.5,)))


def test_cuts_make_grades_and_nothing_else_does() -> None:
    assert labels_of(WORKED, Rules("coec", cuts=(0.7, 1.0, 1.5))) == {
        ("tent", "d1"): 1,
        ("tent", "d2"): 0,
        ("boots", "d3"): 3,
        ("boots", "d4"): 3,
    }


@pytest.mark.parametrize(
    ("rules", "field"),
    [
        (Rules(least_impressions=0), "least_impressions"),
        (Rules(strength=0.0), "strength"),
        (Rules(strength=float("nan")), "strength"),
        (Rules(cuts=(2.0, 1.0)), "cuts"),
        (Rules(cuts=(float("inf"),)), "cuts"),
        (Rules(level=1.0), "level"),
    ],
)
def test_rules_that_cannot_be(rules: Rules, field: str) -> None:
    with pytest.raises(NotValid) as caught:
        label(count_clicks(WORKED), rules)
    assert field in caught.value.fields


@pytest.mark.parametrize(("clicks", "message"), [(0, "no clicks"), (10, "a click on every impression")])
def test_a_log_that_tells_nothing_is_refused(clicks: int, message: str) -> None:
    with pytest.raises(NotValid, match=message):
        label(count_clicks([ClickRow("a", "x", 1, 10, clicks)]), Rules())
    with pytest.raises(NotValid, match="no impressions"):
        label(count_clicks([]), Rules())
