"""Tests of the difference chart: a bar and link for each query, a line for each document."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.comparison.difference_chart import HEIGHT, MOST_BARS, MOST_LINKS, WIDTH, differences, moves
from evaluation.scoring.rankings import Answers, Move, RankedDocument, Ranking
from pooling.models import Run


def bars(values: list[float], tier: str = "") -> list[dict[str, Any]]:
    return [{"difference": value, "query": f"q{at}", "tier": tier} for at, value in enumerate(values)]


def link(at: int) -> tuple[str, str]:
    return f"?query=q{at}", f"query {at}"


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=60), st.data())
def test_bars_stay_inside_and_on_their_side_of_zero(values: list[float], data: st.DataObject) -> None:
    ordered = sorted(values, reverse=True)
    opened = data.draw(st.integers(0, len(ordered) - 1))
    chart, links = differences(bars(ordered), "label", opened, link)
    assert [bar.kind for bar in chart.bars] == [
        "better" if value > 0 else "worse" if value < 0 else "same" for value in ordered
    ]
    assert all(bar.x >= 0 and bar.x + bar.width <= WIDTH + 0.1 for bar in chart.bars)
    assert all(bar.y >= 0 and bar.y + bar.height <= HEIGHT + 2 for bar in chart.bars)
    assert [link.url for link in links] == [f"?query=q{at}" for at in range(len(ordered))]
    assert [link.here for link in links] == [at == opened for at in range(len(ordered))]
    assert all(0 <= word.y <= chart.height for word in chart.words)


def test_a_taller_bar_is_a_larger_difference() -> None:
    chart, _ = differences(bars([0.4, 0.2, -0.1]), "label")
    heights = [bar.height for bar in chart.bars]
    assert heights[0] == 2 * heights[1]
    assert heights[1] > heights[2] > 0


def test_thousands_of_queries_are_drawn_as_shapes_with_few_links() -> None:
    values = [1 - at / 3000 for at in range(6000)]
    chart, links = differences(bars(values), "label", 5999, link)
    assert (chart.bars, len(links)) == ((), MOST_LINKS)
    assert {"better", "worse"} <= {stroke.kind for stroke in chart.strokes}
    assert [link.here for link in links].index(True) == MOST_LINKS - 1
    assert sum(link.width for link in links) == WIDTH


def test_up_to_the_limit_each_query_has_its_own_link() -> None:
    chart, links = differences(bars([0.0] * MOST_BARS), "label", None, link)
    assert len(chart.bars) == len(links) == MOST_BARS


def test_no_query_is_an_empty_picture() -> None:
    assert differences([], "label", None, link)[1] == []
    assert differences(bars([0.1]), "label")[1] == []


def test_tiers_are_marked_under_the_bars() -> None:
    queries = [*bars([0.2], "head"), *bars([0.1, -0.1], "tail")]
    chart, _ = differences(queries, "label")
    marks = [stroke.d for stroke in chart.strokes if stroke.kind == "tier"]
    assert [mark.count("M") for mark in marks] == [1, 2]
    assert [word.text for word in chart.words if word.text in ("head", "torso", "tail")] == ["head", "tail"]


def place(doc_id: str, before: int | None, after: int | None, grade: int | None, rank: int) -> RankedDocument:
    return RankedDocument(rank, doc_id, doc_id, "", grade, move=Move(before, after))


def test_each_document_has_one_way_by_its_ranks_and_grade() -> None:
    stays, rises = place("stays", 1, 1, 3, 1), place("rises", 30, 2, None, 2)
    gone, new = place("gone", 2, None, 0, 2), place("new", None, 3, 1, 3)
    first = Ranking(Run(name="one"), [stays, gone], 30)
    second = Ranking(Run(name="two"), [stays, rises, new], 3)
    lines, height = moves(Answers([first, second], [], 4, 3))
    ways = {line.kind: line.d for line in lines}
    assert height == 4
    assert ways["s3"].startswith("M0,1.5")
    assert ways["s3"].endswith("100,1.5")
    assert ways["s0"] == "M0,2.5H18"
    assert ways["s1"] == "M82,3.5H100"
    assert ways["unknown"].startswith("M0,4")  # from below the list
    assert [line.kind for line in lines] == ["unknown", "s0", "s1", "s3"]
    assert all(0 <= float(y) <= height for line in lines for y in re.findall(r",([\d.]+)", line.d))
