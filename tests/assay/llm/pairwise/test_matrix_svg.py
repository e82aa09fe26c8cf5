"""Tests of the comparison matrix SVG: positions, colors, escaping, many documents."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from assay.core.errors import NotValid
from assay.llm.pairwise.matrix_svg import SIDE, matrix_svg, outcomes

SVG = "{http://www.w3.org/2000/svg}"


def squares(svg: str) -> dict[tuple[int, int], tuple[str, float]]:
    """By row and column: the class and how strong the color is, read from the paths themselves."""
    root = ElementTree.fromstring(svg)
    by_place = {}
    for path in root.iter(f"{SVG}path"):
        for x, y, side in re.findall(r"M([\d.e+-]+) ([\d.e+-]+)h([\d.]+)", path.attrib["d"]):
            if float(y) < SIDE:
                place = (round(float(y) / float(side)), round(float(x) / float(side)))
                by_place[place] = (path.attrib["class"], float(path.attrib["fill-opacity"]))
    return by_place


def test_the_matrix_of_a_clear_ranking_is_blue_above_the_diagonal() -> None:
    ids = ["bad", "best", "middle"]
    met = outcomes(ids, [("bad", "best", 1.0), ("middle", "best", 0.5), ("bad", "middle", 1.0)])
    assert met == pytest.approx(-met.T, nan_ok=True)
    svg = matrix_svg(ids, met, [-1.0, 1.0, 0.0])
    assert squares(svg) == {
        (0, 1): ("better", 0.5),
        (0, 2): ("better", 1.0),
        (1, 2): ("better", 1.0),
        (1, 0): ("worse", 0.5),
        (2, 0): ("worse", 1.0),
        (2, 1): ("worse", 1.0),
    }
    texts = [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert len(texts) == 5
    assert svg.index(">best <") < svg.index(">middle <") < svg.index(">bad <")


def test_answers_of_several_models_are_their_mean_and_failures_are_none() -> None:
    means = outcomes(["x", "y"], [("x", "y", 1.0), ("y", "x", 1.0), ("x", "y", 4.0), ("x", "y", None), ("x", "z", 1.0)])
    assert means.tolist() == [[pytest.approx(np.nan, nan_ok=True), pytest.approx(-1 / 3)], [
        pytest.approx(1 / 3),
        pytest.approx(np.nan, nan_ok=True),
    ]]  # fmt: skip
    drawn = matrix_svg(["x", "y"], np.array([[np.nan, 0.0], [0.0, np.nan]]), [0.0, 0.0])
    assert {kind for kind, _ in squares(drawn).values()} == {"same"}


def test_ids_cannot_break_out_of_the_picture() -> None:
    ids = ['<script>alert("1")</script>', "a&b\x0b", "x" * 500]
    svg = matrix_svg(ids, np.full((3, 3), np.nan), [0, 1, 2], title="</title><script>")
    root = ElementTree.fromstring(svg)
    assert not list(root.iter("script")) + list(root.iter(f"{SVG}script"))
    assert "x" * 60 not in "".join(text.text or "" for text in root.iter(f"{SVG}text"))
    assert squares(svg) == {}


def test_many_documents_are_drawn_as_blocks() -> None:
    rng = np.random.default_rng(1)
    worth = rng.normal(size=1_000)
    met = np.sign(worth[:, None] - worth[None, :])
    np.fill_diagonal(met, np.nan)
    svg = matrix_svg([f"d{place}" for place in range(1_000)], met, worth.tolist())
    drawn = squares(svg)
    assert len(drawn) == 100 * 100
    assert len(svg) < 600_000
    assert all(drawn[row, column] == ("better", 1.0) for row in range(100) for column in range(row + 1, 100))
    assert all(drawn[row, column] == ("worse", 1.0) for row in range(100) for column in range(row))


def test_an_empty_matrix_is_drawn_and_wrong_shapes_are_refused() -> None:
    assert squares(matrix_svg([], np.zeros((0, 0)), [])) == {}
    with pytest.raises(NotValid, match="these numbers must match"):
        matrix_svg(["x"], np.zeros((2, 2)), [0.0])
    with pytest.raises(NotValid, match="between -1"):
        matrix_svg(["x"], np.full((1, 1), 2.0), [0.0])
