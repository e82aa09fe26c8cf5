"""Tests of comparison files: undefined values and no executable cells."""

from __future__ import annotations

import csv
import io
import json

import pytest

from assay.cli.compare import FORMATS, notes
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.significance.compare import Plan
from assay.significance.results import Comparison
from evaluation import compare

QUERIES = [f"q{number:02}" for number in range(20)]
NAMES = ("first", "se_cond & 5%", "-x|y")
QUICK = Plan(permutations=999, resamples=50)


def compare_runs(queries: int, names: tuple[str, ...] = NAMES, metrics: str = "RR P@1") -> Comparison:
    """Runs of which the first finds nothing, the second half and the third all."""
    chosen = QUERIES[:queries]
    runs = []
    for name, hits in zip(names, (0, queries // 2, queries), strict=False):
        ranked = {query: {"good" if at < hits else "bad": 1.0} for at, query in enumerate(chosen)}
        runs.append(Run.from_dict(ranked, name=name))
    return compare(Qrels.from_dict({query: {"good": 1, "bad": 0} for query in chosen}), runs, metrics, plan=QUICK)


def test_json_and_csv_hold_the_same_pairs_unrounded() -> None:
    comparison = compare_runs(20)
    data = json.loads(FORMATS["json"](comparison, {"qrels": {"path": "qrels.txt"}}))
    assert set(data) == {"runs", "groups", "pairs", "rankings", "settings", "qrels"}
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"](comparison, {}))))
    assert [float(row["p"]) for row in rows] == [pair["p"] for pair in data["pairs"]]
    assert [row["b"] for row in rows][:2] == ["se_cond & 5%", "'-x|y"]


@pytest.mark.parametrize("form", FORMATS)
def test_undefined_values_are_marked_in_every_format(form: str) -> None:
    text = FORMATS[form](compare_runs(5), {})
    assert "fewer than 6 queries" in text
    assert "nan" not in text.lower()


def test_without_any_p_there_are_no_letters() -> None:
    assert "groups" not in FORMATS["markdown"](compare_runs(5), {})
    assert "| groups |" in FORMATS["markdown"](compare_runs(20), {})


def test_marks_of_markdown_and_latex_stay_text() -> None:
    comparison = compare_runs(20)
    assert r"| -x\|y |" in FORMATS["markdown"](comparison, {})
    latex = FORMATS["latex"](comparison, {})
    assert r"se\_cond \& 5\%" in latex
    # All 20 queries are won: p stands at the floor of the test.
    assert r" & $\le$0.0010 & " in latex


def test_notes_tell_the_agreement_of_the_primary_metric_with_the_others() -> None:
    texts = [line for line in notes(compare_runs(20, metrics="RR P@1 R@1 AP"), {}) if line.startswith("agreement")]
    assert len(texts) == 1
    assert [part.split(" tau-b")[0] for part in texts[0].split(": ")[1].split("; ")] == [
        "RR and P@1",
        "RR and R@1",
        "RR and AP",
    ]


def test_only_two_runs_are_not_ranked() -> None:
    assert not [line for line in notes(compare_runs(20, ("a", "b")), {}) if line.startswith("agreement")]
