"""Tests of score files: every number, unrounded for programs, and no executable cells."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.scoring.score_files import COLUMNS, WRITERS, ScoreReport
from evaluation import evaluate

QRELS = Qrels.from_dict({"q1": {"d1": 1}, "q2": {"d2": 1}, "=q3": {"d3": 1}})
# RR of first: 1, 1/2, 0, so the mean is 1/2; of se_cond: 1, 0, 0.
FIRST = Run.from_dict({"q1": {"d1": 1.0}, "q2": {"d9": 2.0, "d2": 1.0}}, name="first")
SECOND = Run.from_dict({"q1": {"d1": 1.0}}, name="se_cond & 5%")


@pytest.fixture
def report() -> Any:
    def made(**more: Any) -> ScoreReport:
        fields: dict[str, Any] = {
            "evaluation": evaluate(QRELS, [FIRST, SECOND], ["RR"]),
            "trec_names": {"RR": "recip_rank"},
            "qrels": {"path": "qrels.txt", "sha256": "0" * 64, "queries": 3, "judgments": 3},
            "files": [{"path": "first.run", "sha256": "1" * 64}, {"path": "second.run", "sha256": "2" * 64}],
            "settings": {"missing": "zero", "level": None, "seed": 0},
            "per_query": True,
        }
        return ScoreReport(**fields | more)

    return made


def test_csv_holds_every_query_and_escapes_formulas(report: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(WRITERS["csv"](report()))))
    assert tuple(rows[0]) == COLUMNS
    result = {(row["run"], row["query_id"]): row["value"] for row in rows}
    assert result["first", "all"] == "0.5"
    assert result["first", "q2"] == "0.5"
    assert result["first", "'=q3"] == "0.0"


def test_without_queries_only_the_means_are_there(report: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(WRITERS["csv"](report(per_query=False)))))
    assert [row["query_id"] for row in rows] == ["all", "all"]


def test_trec_lines_are_those_of_trec_eval(report: Any) -> None:
    lines = WRITERS["trec"](report()).splitlines()
    assert lines[0] == "runid\tall\tfirst"
    assert "recip_rank\tq2\t0.5000" in lines
    assert "recip_rank\tall\t0.5000" in lines


def test_trec_lines_hold_counts_without_decimals(report: Any) -> None:
    names = {"NumQ": "num_q", "NumRelRet": "num_rel_ret", "GMAP": "gm_map"}
    lines = WRITERS["trec"](report(evaluation=evaluate(QRELS, [FIRST], list(names)), trec_names=names)).splitlines()
    assert "num_rel_ret\tq2\t1" in lines
    assert lines[-3:] == ["num_q\tall\t3", "num_rel_ret\tall\t2", "gm_map\tall\t0.0171"]


def test_latex_marks_the_best_and_escapes_names(report: Any) -> None:
    lines = WRITERS["latex"](report()).splitlines()
    assert r"first & \textbf{0.5000} \\" in lines
    assert r"se\_cond \& 5\% & 0.3333 \\" in lines


def test_json_is_unrounded_and_names_the_files(report: Any) -> None:
    data = json.loads(WRITERS["json"](report()))
    assert data["runs"][1]["metrics"]["RR"]["mean"] == 1 / 3
    assert (data["runs"][0]["path"], data["qrels"]["queries"]) == ("first.run", 3)
