"""Tests of rows of ragas: samples with the outputs of a system, and their ids."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.text_rules import text_id
from assay.formats import FORMATS, sniff
from assay.rag.records import Answer, Document, EvaluationSample, RetrievedDocument, SystemOutputs
from tests.assay.conftest import Call

SAMPLE = EvaluationSample("s1", "Where?", Answer("here"), (Document("d1", "It is here."),))
OUTPUT = SystemOutputs("s1", (RetrievedDocument(Document("d2", "Or there."), 1),), Answer("There."))


def written(*rows: Any, **options: Any) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    stream = io.BytesIO()
    write = FORMATS["ragas-jsonl"].write
    assert write is not None
    notes = write(rows, stream, **options).notes
    return [json.loads(line) for line in stream.getvalue().splitlines()], notes


def read(*objects: dict[str, Any]) -> Any:
    return FORMATS["ragas-jsonl"].read("".join(f"{json.dumps(one)}\n" for one in objects).encode(), path="a")


def test_sample_and_output_become_one_row_and_return():
    (row,), notes = written(SAMPLE, outputs={"s1": OUTPUT})
    assert row == {
        "user_input": "Where?",
        "retrieved_contexts": ["Or there."],
        "reference_contexts": ["It is here."],
        "response": "There.",
        "reference": "here",
        "sample_id": "s1",
        "retrieved_context_ids": ["d2"],
        "reference_context_ids": ["d1"],
    }
    assert notes == ()
    (back,) = read(row).rows
    assert (back.sample_id, back.relevant_docs, back.output) == ("s1", SAMPLE.relevant_docs, OUTPUT)
    assert written(back) == ([row], ())
    assert sniff(json.dumps(row).encode()) == "ragas-jsonl"
    assert sniff(json.dumps(row).encode(), "outputs") == "outputs-jsonl"


def test_ids_made_from_texts_are_not_written():
    row = {"user_input": "Where?", "reference_contexts": ["It is here."], "sample_id": "1"}
    (back,) = read({"user_input": "Where?", "reference_contexts": ["It is here."]}).rows
    assert back.relevant_docs[0].doc_id == text_id("It is here.")
    assert written(back) == ([row], ())


def test_what_ragas_cannot_say_is_noted():
    sample = EvaluationSample("s2", "Where?", Answer("a"), (Document("d1"),), None, {"topic": "x"}, (Answer("b"),))
    (row,), notes = written(sample, outputs={})
    assert (row.get("reference_contexts"), row["reference_context_ids"], len(notes)) == (None, ["d1"], 4)


@pytest.mark.parametrize(
    ("of", "code"),
    [
        ({"reference_contexts": ["a"], "reference_context_ids": ["d1", "d2"]}, "E23"),
        ({"retrieved_contexts": ["a"], "retrieved_context_ids": "d1"}, "E23"),
        ({"user_input": [{"content": "a", "type": "human"}]}, "E23"),
    ],
)
def test_odd_rows(of: dict[str, Any], code: str):
    report = read({"user_input": "a", "sample_id": "x"}, {"user_input": "b"} | of).report
    assert [(one.line, one.code) for one in report.errors] == [(2, code)]


def test_convert_adds_the_outputs(assay: Call, tmp_path: Path):
    (tmp_path / "samples.jsonl").write_text('{"sample_id": "s1", "query": "Where?", "reference_answer": "here"}\n')
    (tmp_path / "outputs.jsonl").write_text('{"sample_id": "s1", "response": "There."}\n')
    words = ["convert", "samples.jsonl", "--from", "samples-jsonl", "--to", "ragas-jsonl", "--outputs", "outputs.jsonl"]
    status, out, _ = assay(*words)
    assert (status, json.loads(out)["response"]) == (0, "There.")
    assert assay("convert", "qrels.txt", "--to", "qrels-csv", "--outputs", "outputs.jsonl")[0] == 2
