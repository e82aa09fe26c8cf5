"""Tests of metrics on Cranfield, ir_measures' own tests and worked examples."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assay.core import Qrels, Run
from assay.formats.trec_qrels import load_qrels
from assay.formats.trec_run import load_run
from assay.metrics.metric import parse_metric
from evaluation import evaluate
from tests.assay.metrics.test_trec_eval import left_out

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
HERE = DATA.is_dir()
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not HERE, reason="../shared/data is not here")]

# As many decimals as the files hold.
EIGHT, TEN = 1e-8, 1e-10


def cases() -> list[dict[str, Any]]:
    return json.loads((DATA / "evaluation-cases" / "cases.json").read_text())["cases"] if HERE else []


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_the_worked_cases(case: dict[str, Any]) -> None:
    names = {name: parse_metric(name).name for name in case["assay"]}
    result = evaluate(Qrels.from_dict(case["qrels"]), Run.from_dict(case["run"], "run"), names)
    for written, name in names.items():
        assert result.runs[0].metrics[name].mean == pytest.approx(case["assay"][written], abs=EIGHT), written
    for written, values in case.get("assay_per_query", {}).items():
        mapping = dict(zip(result.query_ids, result.runs[0].per_query[names[written]], strict=True))
        assert mapping == pytest.approx(values, abs=EIGHT), written


@pytest.mark.parametrize("files", ["cwl", "compat"])
def test_the_test_data_of_ir_measures(files: str) -> None:
    folder = DATA / "ir-measures-tests"
    expected = json.loads((folder / "expected.json").read_text())[files]
    assert expected.pop("missing from the run") == []
    names = {name: parse_metric(name).name for name in expected}
    result = evaluate(load_qrels(folder / f"{files}.qrels"), load_run(folder / f"{files}.run"), names).runs[0]
    assert len(names) == 24
    for written, name in names.items():
        values = list(expected[written]["per_query"].values())
        assert result.metrics[name].mean == pytest.approx(expected[written]["mean"], abs=TEN), written
        assert result.per_query[name] == pytest.approx(values, abs=TEN), written


@pytest.mark.parametrize("run", ["gen_bm25_raw", "gen_char35_cos", "gen_lsa150", "gen_rrf60"])
def test_cranfield(run: str) -> None:
    folder = DATA / "cranfield"
    expected = json.loads(gzip.decompress((folder / "expected_eval.json.gz").read_bytes()))[run]
    theirs = {name: value for name, value in expected["aggregated_trec_eval"].items() if not left_out(name)}
    # A metric that no peer could compute has a text for its value; p is ir_measures' own default.
    known = {name: value for name, value in expected["ir_measures"].items() if isinstance(value, float)}
    theirs |= {name.replace("Compat", "Compat(p=0.95)"): value for name, value in known.items()}
    if run == "gen_rrf60":
        # ir_measures orders ties in RR@k, Judged@k and Compat by its own rule; this run is full of ties.
        del theirs["RR(rel=2)@10"], theirs["Compat(p=0.95)"]
    result = evaluate(load_qrels(folder / "qrels.txt"), load_run(folder / "runs" / f"{run}.run.gz"), list(theirs)).runs[
        0
    ]
    assert len(theirs) > 70
    for name, value in theirs.items():
        assert result.metrics[parse_metric(name).name].mean == pytest.approx(value, abs=1e-6), name
