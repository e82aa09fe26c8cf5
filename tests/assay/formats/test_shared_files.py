"""Tests on public files of ranx, ir_measures, pytrec_eval and others: same tables as other tools read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import pytrec_eval

from assay.core.errors import UnreadableInput
from assay.formats import FORMATS, qrels_and_runs, sniff
from assay.formats.trec_qrels import load_qrels, load_qrels_report
from assay.formats.trec_run import load_run, load_run_report

pytestmark = pytest.mark.shared


@pytest.mark.parametrize("ending", ["trec", "trec.gz"])
def test_one_table_from_each_form_of_a_file(shared: Path, ending: str):
    folder = shared / "ranx-formats"
    assert load_qrels(folder / f"qrels.{ending}").to_dict() == json.loads((folder / "qrels.json").read_text())
    assert load_run(folder / f"run.{ending}").to_dict() == json.loads((folder / "run.json").read_text())


@pytest.mark.parametrize("ending", ["trec", "trec.gz", "json", "parquet"])
def test_files_of_ranx_are_recognized_by_content(shared: Path, ending: str):
    folder = shared / "ranx-formats"
    assert qrels_and_runs.load_qrels(folder / f"qrels.{ending}")[0] == load_qrels(folder / "qrels.trec")
    assert qrels_and_runs.load_run(folder / f"run.{ending}")[0] == load_run(folder / "run.trec")
    assert qrels_and_runs.open_run(folder / f"run.{ending}").whole() == load_run(folder / "run.trec")


@pytest.mark.parametrize("name", ["run.parquet", "run.lz4", "run.json"])
def test_other_forms_are_refused_in_one_sentence(shared: Path, name: str):
    with pytest.raises(UnreadableInput, match=name):
        load_run(shared / "ranx-formats" / name, name)


@pytest.mark.parametrize("name", ["qrels.test", "qrels.rel_level", "qrels-302.test", "qrels.comment.test"])
def test_qrels_as_pytrec_eval_reads_them(shared: Path, name: str):
    path = shared / "trec-eval-tests" / name
    with path.open() as stream:
        assert load_qrels(path).to_dict() == pytrec_eval.parse_qrel(stream)


@pytest.mark.parametrize("name", ["results.test", "results-302.test"])
def test_runs_as_pytrec_eval_reads_them(shared: Path, name: str):
    path = shared / "trec-eval-tests" / name
    with path.open() as stream:
        assert load_run(path).to_dict() == pytrec_eval.parse_run(stream)


def test_comments_and_hashes_in_ids(shared: Path):
    folder = shared / "trec-eval-tests"
    path = folder / "qrels.test.with-comments"
    table, report = load_qrels_report(path, "a")
    rows = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    assert table.to_dict() == pytrec_eval.parse_qrel(iter(rows))
    assert (report.codes["W34"], "CR#93E-1860" in table.doc_ids) == (3, True)
    with gzip.open(folder / "results.comment.test.gz", "rt") as stream:
        run, report = load_run_report(folder / "results.comment.test.gz", "a")
        assert run.to_dict() == pytrec_eval.parse_run(stream)
    assert any("#" in doc_id for doc_id in run.doc_ids)


def test_several_judges_in_one_file_are_a_conflict(shared: Path):
    with pytest.raises(UnreadableInput, match="contradicts line"):
        load_qrels(shared / "trec-eval-tests" / "qrels.123")


@pytest.mark.parametrize("name", ["compat", "cwl"])
def test_files_of_ir_measures(shared: Path, name: str):
    run, report = load_run_report(shared / "ir-measures-tests" / f"{name}.run", "a")
    assert (report.ok, report.accepted) == (True, len(run))
    assert len(load_qrels(shared / "ir-measures-tests" / f"{name}.qrels")) > 0


def test_the_files_of_a_shop(shared: Path):
    folder = shared / "demo-electronics"
    documents = FORMATS["documents-jsonl"].read(folder / "documents.jsonl", path="documents.jsonl")
    assert (len(documents.rows), documents.report.ok) == (2349, True)
    ratings = FORMATS["ratings-csv"].read(folder / "judgments.csv", path="judgments.csv", grades=(0, 1, 2, 3))
    assert (len(ratings.rows), {row.rater for row in ratings.rows}) == (9564, {"agent_1", "agent_2", "agent_3"})
    pairs = FORMATS["pairs-csv"].read(folder / "judgments.csv", path="judgments.csv")
    assert (len(pairs.rows), pairs.report.ok) == (3188, True)
    log = FORMATS["query-log-csv"].read(folder / "queries.csv", path="a", columns={"count": "count_generated"})
    assert (len(log.rows), log.rows[0].count) == (135, 5001)


@pytest.mark.parametrize(
    ("path", "format"),
    [
        ("demo-electronics/documents.jsonl", "documents-jsonl"),
        ("demo-electronics/judgments.csv", "ratings-csv"),
        ("demo-electronics/queries.csv", "queries-csv"),
        ("demo-electronics/qrels_vendor_final.txt", "trec-qrels"),
        ("demo-electronics/runs/gen_bm25.run", "trec-run"),
        ("cranfield/queries.tsv", "queries-tsv"),
        ("wands-queries/query.csv", "queries-csv"),
        ("berlin-searchterms-2021/berlin_searchterms_2021.csv", "queries-csv"),
    ],
)
def test_files_are_recognized_by_their_content(shared: Path, path: str, format: str):
    assert sniff((shared / path).read_bytes()[: 1 << 16]) == format


def test_a_log_with_a_row_a_month(shared: Path):
    path = shared / "berlin-searchterms-2021" / "berlin_searchterms_2021.csv"
    reader = FORMATS["query-log-csv"].read
    assert not reader(path, path="a", columns={"count": "impressions"}).report.ok
    summed = reader(path, path="a", columns={"count": "impressions"}, repeated="sum")
    assert summed.report.ok
    assert sum(row.count for row in summed.rows) == sum(
        int(line.rsplit(",", 2)[1]) for line in path.read_text().splitlines()[1:]
    )
