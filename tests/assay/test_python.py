"""Tests of the functions that `import assay` offers: every form of input gives the numbers of the worked example."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars
import pytest

import assay
from assay.core.errors import NotValid

QRELS = {"q1": {"d1": 3, "d2": 1, "d3": 0, "d4": 2, "d5": 0}}
BM25 = {"q1": {"d1": 9.1, "d2": 8.7, "d3": 8.7}}
NEURAL = {"q1": {"d4": 0.9, "d1": 0.8, "d5": 0.7}}
EXPECTED = {"bm25": 0.7350, "neural": 0.8175}
RATINGS = [
    ("q1", f"d{number}", rater, grade)
    for rater, grades in {"r01": [3, 1, 0, 2, 0], "r02": [3, 1, 1, 2, 0]}.items()
    for number, grade in enumerate(grades, 1)
]


class Row(NamedTuple):
    """A label as ir_measures and ir_datasets give it."""

    query_id: str
    doc_id: str
    relevance: int


def rows(table: dict[str, dict[str, Any]]) -> list[tuple[str, str, Any]]:
    return [(query, doc, value) for query, documents in table.items() for doc, value in documents.items()]


def polars_frame(table: dict[str, dict[str, Any]], value: str) -> Any:
    return polars.DataFrame(rows(table), schema=["query_id", "doc_id", value], orient="row")


def pyterrier_frame(table: dict[str, dict[str, Any]], value: str) -> Any:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows(table), columns=["qid", "docno", value])
    # A number inside the index, which is not the document's id.
    frame["docid"] = range(len(frame))
    return frame


def in_file(tmp_path: Path, name: str, table: dict[str, dict[str, Any]]) -> Path:
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(table))
    return path


INPUTS: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "dicts": lambda path: (QRELS, {"bm25": BM25, "neural": NEURAL}),
    "polars": lambda path: (
        polars_frame(QRELS, "grade"),
        {"bm25": polars_frame(BM25, "score"), "neural": polars_frame(NEURAL, "score")},
    ),
    "pandas": lambda path: (
        pyterrier_frame(QRELS, "label"),
        {"bm25": pyterrier_frame(BM25, "score"), "neural": pyterrier_frame(NEURAL, "score")},
    ),
    "rows": lambda path: ([Row(*row) for row in rows(QRELS)], {"bm25": rows(BM25), "neural": rows(NEURAL)}),
    "paths": lambda path: (
        str(in_file(path, "qrels", QRELS)),
        [in_file(path, "bm25", BM25), str(in_file(path, "neural", NEURAL))],
    ),
    "tables": lambda path: (
        assay.Qrels.from_dict(QRELS),
        [assay.Run.from_dict(BM25, "bm25"), assay.Run.from_dict(NEURAL, "neural")],
    ),
}


@pytest.mark.parametrize("kind", INPUTS)
def test_every_form_of_input_gives_the_worked_example(kind: str, tmp_path: Path) -> None:
    qrels, runs = INPUTS[kind](tmp_path)
    result = assay.evaluate(qrels, runs, "nDCG@3")
    assert {row["run"]: round(row["mean"], 4) for row in result.to_rows()} == EXPECTED
    compared = assay.compare(qrels, runs, "nDCG@3")
    assert compared.pairs[0].effect.difference == pytest.approx(0.8175 - 0.7350, abs=1e-4)


def test_metrics_of_ir_measures_are_taken() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    result = assay.evaluate(QRELS, {"bm25": BM25}, [ir_measures.nDCG @ 3, ir_measures.RR @ 3])
    assert [(row["metric"], round(row["mean"], 4)) for row in result.to_rows()] == [("nDCG@3", 0.735), ("RR@3", 1.0)]


def test_one_run_needs_no_name() -> None:
    assert [run.name for run in assay.evaluate(QRELS, BM25, "RR").runs] == ["run"]


def test_several_runs_without_a_name_are_numbered() -> None:
    assert [run.name for run in assay.evaluate(QRELS, [BM25, NEURAL], "RR").runs] == ["run1", "run2"]


def test_a_run_without_scores_is_ordered_by_rank() -> None:
    frame = polars.DataFrame({"qid": ["q1", "q1"], "docno": ["d2", "d1"], "rank": [2, 1]})
    assert assay.read_run(frame).ranking("q1") == ["d1", "d2"]


def test_numbers_as_ids_are_read_as_text() -> None:
    frame = polars.DataFrame({"query_id": [1, 1], "doc_id": [10, 11], "grade": [1, 0]})
    assert assay.read_qrels(frame).to_dict() == {"1": {"10": 1.0, "11": 0.0}}


@pytest.mark.parametrize("form", ["rows", "polars", "csv"])
def test_agreement_of_the_worked_example(form: str, tmp_path: Path) -> None:
    columns = ["query_id", "doc_id", "rater_id", "grade"]
    ratings: Any = RATINGS
    if form != "rows":
        ratings = polars.DataFrame(RATINGS, schema=columns, orient="row")
    if form == "csv":
        ratings.write_csv(tmp_path / "ratings.csv")
        ratings = tmp_path / "ratings.csv"
    report = assay.agreement(ratings, bootstrap=0)
    result = {row["coefficient"]: row["value"] for row in report.to_rows()}
    assert result["alpha-ordinal"] == pytest.approx(0.8955, abs=5e-5)
    assert result["cohen-unweighted"] == pytest.approx(0.7368, abs=5e-5)


def test_the_pool_of_the_worked_example() -> None:
    pool = assay.pool({"bm25": BM25, "neural": NEURAL}, depth=3)
    assert {row["doc_id"] for row in pool.to_rows()} == {"d1", "d2", "d3", "d4", "d5"}
    rest = assay.pool({"bm25": BM25, "neural": NEURAL}, depth=3, judged={"q1": {"d1": 3}})
    assert {row["doc_id"] for row in rest.to_rows()} == {"d2", "d3", "d4", "d5"}


@pytest.mark.parametrize("form", ["dict", "polars", "csv"])
def test_a_sample_is_the_same_from_every_form_of_log(form: str, tmp_path: Path) -> None:
    counts = {"rain jacket": 50, "tent": 20, "stove": 10, "rope": 5, "mug": 5, "lamp": 4, "sock": 3, "map": 2}
    log: Any = counts
    if form != "dict":
        log = polars.DataFrame({"query": list(counts), "count": list(counts.values())})
    if form == "csv":
        log.write_csv(tmp_path / "log.csv")
        log = tmp_path / "log.csv"
    drawn = assay.sample(log, head=1, tail=2, seed=3)
    expected = assay.sample(counts, head=1, tail=2, seed=3)
    assert drawn.to_rows() == expected.to_rows()
    assert [row["tier"] for row in drawn.to_rows()] == ["head", "tail", "tail"]


def test_results_become_frames_and_tables_in_a_notebook() -> None:
    result = assay.evaluate(QRELS, {"<b>": BM25}, "nDCG@3 RR@3", level=0.95)
    frame = result.to_polars()
    assert frame["metric"].to_list() == ["nDCG@3", "RR@3"]
    assert result.to_pandas()["run"].tolist() == ["<b>", "<b>"]
    html = result._repr_html_()
    assert html.count("<tr>") == 3
    assert "<b>" not in html
    assert json.loads(json.dumps(result.to_dict()))["runs"][0]["name"] == "<b>"


@pytest.mark.parametrize(
    "call",
    [
        lambda: assay.evaluate(3, BM25),
        lambda: assay.evaluate(QRELS, 3),
        lambda: assay.evaluate({"q1": 3}, BM25),
        lambda: assay.evaluate(QRELS, [("q1", "d1")]),
        lambda: assay.evaluate(polars.DataFrame({"qid": ["q1"], "grade": [1]}), BM25),
        lambda: assay.evaluate(polars.DataFrame({"qid": [None], "docno": ["d"], "grade": [1]}), BM25),
        lambda: assay.read_run(polars.DataFrame({"qid": ["q1"], "docno": ["d"], "score": ["high"]})),
        lambda: assay.read_qrels(polars.DataFrame({"qid": [1.5], "docno": ["d"], "grade": [1]})),
        lambda: assay.sample({"tent": 0, "mug": 3}, head=1),
        lambda: assay.sample({"tent": 1, "mug": 1}, head=1),
        lambda: assay.sample({"tent": 2}, n=1),
        lambda: assay.sample({"tent": 2}, head=1, method="best"),
        lambda: assay.agreement(polars.DataFrame({"query_id": ["q1"], "doc_id": ["d"], "grade": [1]})),
        lambda: assay.pool({"a": BM25}, depht=3),
    ],
)
def test_bad_input_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(NotValid):
        call()


def test_importing_assay_imports_no_numpy() -> None:
    code = "import sys, assay; print('numpy' in sys.modules, 'django' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize(
    "line",
    [
        "from evaluation import evaluate, compare",
        "from assay.coefficients import krippendorff_alpha, cohen_kappa",
        "from assay.core import Qrels, Run",
    ],
)
def test_older_import_paths_work_without_django(line: str) -> None:
    code = f"{line}\nimport sys; assert 'django' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parents[2])
