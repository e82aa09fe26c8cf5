"""Are the numbers those of trec_eval's own tests, of Cranfield, and of the worked cases?"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from evaluation import evaluate
from evaluation.metrics.names import parse_metric
from judgments.core import Qrels, Run
from judgments.core.errors import NotValid

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
HERE = DATA.is_dir()
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not HERE, reason="../shared/data is not here")]


def known(name: str) -> bool:
    try:
        parse_metric(name)
    except NotValid:
        return False
    return True


def cases() -> list[dict[str, Any]]:
    return json.loads((DATA / "evaluation-cases" / "cases.json").read_text())["cases"] if HERE else []


def rows(path: Path, *columns: int) -> list[tuple[Any, ...]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    fields = [line.split() for line in data.decode().splitlines()]
    return [tuple(row[at] if at != columns[-1] else float(row[at]) for at in columns) for row in fields]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_the_worked_cases(case: dict[str, Any]) -> None:
    names = [name for name in case["assay"] if known(name)]
    if not names:
        pytest.skip("only metrics that are not built")
    result = evaluate(Qrels.from_dict(case["qrels"]), Run.from_dict(case["run"], "run"), names)
    for name in names:
        summary = result.runs[0].metrics[parse_metric(name).name]
        assert summary.mean == pytest.approx(case["assay"][name], abs=1e-8), name
    per_query = result.as_json()[0]["per_query"]
    for query_id, values in case.get("assay_per_query", {}).items():
        for name in set(values) & set(names):
            assert per_query[query_id][parse_metric(name).name] == pytest.approx(values[name], abs=1e-8)


@pytest.mark.parametrize("run", ["gen_bm25_raw", "gen_char35_cos", "gen_lsa150", "gen_rrf60"])
def test_cranfield(run: str) -> None:
    folder = DATA / "cranfield"
    expected = json.loads(gzip.decompress((folder / "expected_eval.json.gz").read_bytes()))[run]
    theirs = {name: value for name, value in expected["aggregated_trec_eval"].items() if ours(name)}
    theirs |= {name: value for name, value in expected["ir_measures"].items() if known(name) and "@" in name}
    if run == "gen_rrf60":
        # That file's RR@k breaks ties by ascending id, as trec_eval does not; this run is full of ties.
        del theirs["RR(rel=2)@10"]
    result = evaluate(
        Qrels.from_rows(rows(folder / "qrels.txt", 0, 2, 3)),
        Run.from_rows(rows(folder / "runs" / f"{run}.run.gz", 0, 2, 4), run),
        list(theirs),
    ).runs[0]
    assert len(theirs) > 40
    for name, value in theirs.items():
        assert result.metrics[parse_metric(name).name].mean == pytest.approx(value, abs=1e-6), name


def ours(name: str) -> bool:
    theirs = r"(map|ndcg)(_cut_\d+)?|(P|recall|success)_\d+|Rprec|recip_rank"
    return known(name) and re.fullmatch(theirs, name) is not None


@pytest.mark.parametrize(
    ("output", "qrels", "run", "level"),
    [
        ("out.test.aq", "qrels.test", "results.test", ""),
        ("out.test.aqc", "qrels.test", "results.trunc", ""),
        ("out.test.aql", "qrels.rel_level", "results.test", "-l2"),
    ],
)
def test_trec_evals_own_tests(output: str, qrels: str, run: str, level: str) -> None:
    folder = DATA / "trec-eval-tests"
    lines = [line.split() for line in (folder / output).read_text().splitlines()]
    expected = [(name, query_id, float(value)) for name, query_id, value in lines if ours(name)]
    suffix = {name: level if "ndcg" not in name else "" for name, _, _ in expected}
    result = evaluate(
        Qrels.from_rows(rows(folder / qrels, 0, 2, 3)),
        Run.from_rows(rows(folder / run, 0, 2, 4), "run"),
        [name + end for name, end in suffix.items()],
    )
    per_query = result.as_json()[0]["per_query"]
    assert len(expected) > 100
    for name, query_id, value in expected:
        metric = parse_metric(name + suffix[name]).name
        got = result.runs[0].metrics[metric].mean if query_id == "all" else per_query[query_id][metric]
        assert got == pytest.approx(value, abs=5.1e-5), (name, query_id)
