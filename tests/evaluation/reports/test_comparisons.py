"""Do the files of comparisons say what is undefined, and hold no cell that a reader would run?"""

from __future__ import annotations

import csv
import io
import json

import pytest

from evaluation import compare
from evaluation.reports.comparisons import WRITERS, notes
from evaluation.significance.comparison import Comparison
from evaluation.significance.plan import Plan
from judgments.core.qrels import Qrels
from judgments.core.run import Run

QUERIES = [f"q{number:02}" for number in range(20)]
NAMES = ("first", "se_cond & 5%", "-x|y")
QUICK = Plan(permutations=999, resamples=50)


def found(queries: int, names: tuple[str, ...] = NAMES, metrics: str = "RR P@1") -> Comparison:
    """Runs of which the first finds nothing, the second half and the third all."""
    chosen = QUERIES[:queries]
    runs = []
    for name, hits in zip(names, (0, queries // 2, queries), strict=False):
        ranked = {query: {"good" if at < hits else "bad": 1.0} for at, query in enumerate(chosen)}
        runs.append(Run.from_dict(ranked, name=name))
    return compare(Qrels.from_dict({query: {"good": 1, "bad": 0} for query in chosen}), runs, metrics, plan=QUICK)


def test_json_and_csv_hold_the_same_pairs_unrounded() -> None:
    comparison = found(20)
    told = json.loads(WRITERS["json"](comparison, {"qrels": {"path": "qrels.txt"}}))
    assert set(told) == {"runs", "groups", "pairs", "rankings", "settings", "qrels"}
    rows = list(csv.DictReader(io.StringIO(WRITERS["csv"](comparison, {}))))
    assert [float(row["p"]) for row in rows] == [pair["p"] for pair in told["pairs"]]
    assert [row["b"] for row in rows][:2] == ["se_cond & 5%", "'-x|y"]


@pytest.mark.parametrize("form", WRITERS)
def test_what_is_undefined_is_told_in_every_form(form: str) -> None:
    text = WRITERS[form](found(5), {})
    assert "fewer than 6 queries" in text
    assert "nan" not in text.lower()


def test_without_any_p_there_are_no_letters() -> None:
    assert "groups" not in WRITERS["markdown"](found(5), {})
    assert "| groups |" in WRITERS["markdown"](found(20), {})


def test_marks_of_markdown_and_latex_stay_text() -> None:
    comparison = found(20)
    assert r"| -x\|y |" in WRITERS["markdown"](comparison, {})
    latex = WRITERS["latex"](comparison, {})
    assert r"se\_cond \& 5\%" in latex
    # All 20 queries are won: p stands at the floor of the test.
    assert r" & $\le$0.0010 & " in latex


def test_notes_tell_the_agreement_of_the_primary_metric_with_the_others() -> None:
    told = [line for line in notes(found(20, metrics="RR P@1 R@1 AP"), {}) if line.startswith("agreement")]
    assert len(told) == 1
    assert [part.split(" tau-b")[0] for part in told[0].split(": ")[1].split("; ")] == [
        "RR and P@1",
        "RR and R@1",
        "RR and AP",
    ]


def test_only_two_runs_are_not_ranked() -> None:
    assert not [line for line in notes(found(20, ("a", "b")), {}) if line.startswith("agreement")]
