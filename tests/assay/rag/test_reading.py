"""Reading of samples and outputs: every shape that is read, and every input that is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.formats.value_kinds import value_kind
from assay.rag import (
    EvaluationSample,
    SystemOutputs,
    evaluate,
    outputs_jsonl,
    read_outputs,
    read_samples,
    samples_jsonl,
)
from assay.rag.reader import align
from assay.rag.records import Answer, Document, RetrievedDocument

SAMPLE = {"sample_id": "s1", "query": "Where?", "reference_answer": "here", "relevant_docs": ["d1"]}
OUTPUT = {"sample_id": "s1", "retrieved": ["d1"], "response": "Here."}


@pytest.mark.parametrize(
    "row",
    [
        SAMPLE,
        {"id": "s1", "query": "Where?", "reference_answer": {"text": "here"}, "relevant_docs": [{"doc_id": "d1"}]},
        {"_id": "s1", "question": "Where?", "ground_truth": "here", "relevant_docs": [{"id": "d1", "text": ""}]},
        {"question_id": "s1", "user_input": "Where?", "reference": "here", "relevant_docs": ("d1",), "extra": 5},
        {**SAMPLE, "reference_answer": ["here"], "candidate_docs": None, "labels": None},
        {**SAMPLE, "reference_answer": None, "ground_truths": ["here"], "labels": {}},
        {"id": "s1", "question": "Where?", "answers": {"text": ["here"], "answer_start": [3]}, "relevant_docs": ["d1"]},
    ],
)
def test_samples_are_read_under_the_names_of_other_tools(row: dict[str, Any]) -> None:
    assert read_samples([row]) == read_samples([SAMPLE])
    (sample,) = read_samples([row])
    assert (sample.references, sample.relevant_ids) == (["here"], {"d1"})


def test_dataclasses_are_read_as_their_fields() -> None:
    @dataclass
    class Case:
        question: str
        ground_truth: str

    @dataclass
    class Reply:
        answer: str
        contexts: list[str]

    evaluation = evaluate([Case("Where?", "here")], [Reply("Here.", ["It is here."])], "TokenF1")
    score = evaluation.systems[0].scores["TokenF1"]
    assert (score.value, score.result.details["num_samples"]) == (1.0, 1)


@pytest.mark.parametrize(
    ("record", "field"),
    [
        (EvaluationSample("s1", "Where?", "here"), "reference_answer"),  # type: ignore[arg-type]
        (EvaluationSample("s1", "Where?", relevant_docs=("d1",)), "relevant_docs"),  # type: ignore[arg-type]
        (SystemOutputs("s1", response="Here."), "response"),  # type: ignore[arg-type]
        (SystemOutputs("s1", ({"doc_id": "d1"},)), "retrieved"),  # type: ignore[arg-type]
    ],
)
def test_a_record_with_a_wrong_type_names_its_field(record: Any, field: str) -> None:
    read = read_samples if isinstance(record, EvaluationSample) else read_outputs
    with pytest.raises(NotValid, match=rf"1: `{field}` "):
        read([record])


def test_records_are_ordered_by_rank() -> None:
    docs = [RetrievedDocument(Document(name), rank) for name, rank in (("b", 2), ("c", 5), ("a", 1))]
    (output,) = read_outputs([SystemOutputs("s1", tuple(docs))])
    assert [one.doc.doc_id for one in output.retrieved] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("record", "field"),
    [
        (SystemOutputs("s1", (RetrievedDocument(Document("a"), 1), RetrievedDocument(Document("b"), 1))), "rank"),
        (SystemOutputs("s1", (RetrievedDocument(Document("a"), 0),)), "rank"),
        *((SystemOutputs("s1", timings={"end_to_end": bad}), "end_to_end")  # type: ignore[dict-item]
          for bad in (float("inf"), -1.0, "fast", True)),
    ],
)  # fmt: skip
def test_numbers_of_records_are_checked_as_those_of_rows(record: SystemOutputs, field: str) -> None:
    with pytest.raises(NotValid, match=f"output 1: .*{field}"):
        evaluate([SAMPLE], [record], "MeanLatency")


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_a_timing_of_a_record_that_is_nothing_is_not_given(nothing: Any) -> None:
    evaluation = evaluate([SAMPLE], [SystemOutputs("s1", timings={"end_to_end": nothing})], "MeanLatency")
    score = evaluation.systems[0].scores["MeanLatency"]
    assert (score.value, score.defined, score.result.details["skipped"]) == (0.0, False, {"no_timing": 1})


def test_rows_of_ragas_hold_a_sample_and_an_output() -> None:
    old = {"question": "Where?", "answer": "Here.", "contexts": ["It is here.", "Or there."], "ground_truth": "here"}
    new = {"user_input": "Where?", "response": "Here.", "retrieved_contexts": ["It is here.", "Or there."],
           "reference": "here", "reference_contexts": ["It  is here."]}  # fmt: skip
    assert read_outputs([old]) == read_outputs([new])
    (output,) = read_outputs([new])
    (sample,) = read_samples([new])
    assert [one.doc.text for one in output.retrieved] == ["It is here.", "Or there."]
    assert output.sample_id == sample.sample_id == "1"
    # A text has its own id, so that a context that is a reference context is a relevant document.
    evaluation = evaluate([new], [new], ["recall@1", "precision@2", "TokenF1"]).systems[0].scores
    assert [score.value for score in evaluation.values()] == [1.0, 0.5, 1.0]


def test_documents_carry_text_score_rank_and_metadata() -> None:
    docs = [
        {"doc_id": "b", "text": "two", "score": 1, "rank": 2, "embedding": [1, 0], "metadata": {"lang": "en"}},
        {"id": 7, "page_content": "one", "score": 2.5, "rank": 1},
    ]
    (output,) = read_outputs([{"id": "s1", "retrieved": docs}])
    first, second = output.retrieved
    assert (first.doc.doc_id, first.doc.text, first.score, first.rank) == ("7", "one", 2.5, 1)
    assert second.doc.metadata == {"lang": "en", "embedding": [1, 0]}


def test_labels_may_be_top_level_fields() -> None:
    row = {**SAMPLE, "variant_of": 3, "scenario": "typo", "labels": {"tier": "head", "none": None}}
    assert read_samples([row])[0].labels == {"tier": "head", "variant_of": "3", "scenario": "typo"}


def test_data_frames_and_records_are_read_as_dicts_are() -> None:
    rows = [SAMPLE, {**SAMPLE, "sample_id": "s2", "reference_answer": None}]
    outputs = [OUTPUT, {**OUTPUT, "sample_id": "s2", "response": None}]
    expected = read_samples(rows), read_outputs(outputs)
    for frame in (pandas.DataFrame, lambda of: polars.DataFrame(of, strict=False)):
        assert read_samples(frame(rows)) == expected[0]
        assert read_outputs(frame(outputs)) == expected[1]
    assert read_samples(expected[0]) == expected[0]
    assert read_outputs(tuple(expected[1])) == expected[1]
    assert read_samples(iter(rows)) == expected[0]
    timed = pandas.DataFrame({"sample_id": ["s1", "s2"], "timings": [{"end_to_end": 1.0}, float("nan")]})
    assert [one.timings for one in read_outputs(timed)] == [{"end_to_end": 1.0}, {}]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"query": None}, "query"),
        ({"query": " "}, "query"),
        ({"query": 5}, "query"),
        ({"sample_id": ""}, "sample_id"),
        ({"sample_id": "a b\n"}, "sample_id"),
        ({"sample_id": ["s1"]}, "sample_id"),
        ({"reference_answer": 5}, "reference_answer"),
        ({"reference_answer": {"answer": "here"}}, "reference_answer"),
        ({"reference_answer": ["here", None]}, "reference_answer"),
        ({"relevant_docs": "d1"}, "relevant_docs"),
        ({"relevant_docs": [None]}, "relevant_docs"),
        ({"relevant_docs": [{"title": "no id"}]}, "relevant_docs"),
        ({"relevant_docs": [{"doc_id": "d1", "text": 5}]}, "text"),
        ({"relevant_docs": [{"doc_id": "d1", "metadata": 5}]}, "metadata"),
        ({"labels": ["typo"]}, "labels"),
    ],
)
def test_samples_that_cannot_be_used_are_refused(change: dict[str, Any], named: str, tmp_path: Path) -> None:
    rows = [{**SAMPLE, "sample_id": "s0"}, {**SAMPLE, **change}]
    with pytest.raises(NotValid, match=f"sample 2: .*{named}"):
        read_samples(rows)
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UnreadableInput, match=f"samples.jsonl:2.*{named}"):
        read_samples(path)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"response": 5}, "response"),
        ({"response": ["a"]}, "response"),
        ({"retrieved": "d1"}, "retrieved"),
        ({"retrieved": {"d1": 0.5}}, "retrieved"),
        ({"retrieved": [{"doc_id": "d1", "score": "high"}]}, "score"),
        ({"retrieved": [{"doc_id": "d1", "score": True}]}, "score"),
        ({"retrieved": [{"doc_id": "d1", "rank": 0}]}, "rank"),
        ({"retrieved": [{"doc_id": "d1", "rank": 1.5}]}, "rank"),
        ({"retrieved": [{"doc_id": "d1", "rank": 1}, {"doc_id": "d2", "rank": 1}]}, "ranks"),
        ({"retrieved": [{"doc_id": "d1", "rank": 1}, "d2"]}, "ranks"),
        ({"timings": 0.5}, "timings"),
        ({"timings": {"end_to_end": "fast"}}, "end_to_end"),
        ({"timings": {"end_to_end": -1}}, "end_to_end"),
        ({"timings": {"end_to_end": True}}, "end_to_end"),
    ],
)
def test_outputs_that_cannot_be_used_are_refused(change: dict[str, Any], named: str, tmp_path: Path) -> None:
    rows = [{**OUTPUT, "sample_id": "s0"}, {**OUTPUT, **change}]
    with pytest.raises(NotValid, match=f"output 2: .*{named}"):
        read_outputs(rows)
    path = tmp_path / "outputs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UnreadableInput, match=f"outputs.jsonl:2.*{named}"):
        read_outputs(path)


def test_numbers_that_are_not_finite_are_refused() -> None:
    for seconds in (float("inf"), -0.5):
        with pytest.raises(NotValid, match="end_to_end"):
            read_outputs([{"id": "s1", "timings": {"end_to_end": seconds}}])
    for score in (float("inf"), float("-inf")):
        with pytest.raises(NotValid, match="score"):
            read_outputs([{"id": "s1", "retrieved": [{"doc_id": "d", "score": score}]}])


def test_an_output_says_something_about_the_answer() -> None:
    with pytest.raises(NotValid, match="response"):
        read_outputs([{"sample_id": "s1", "text": "Here."}])
    assert read_outputs([{"sample_id": "s1", "response": None}])[0] == SystemOutputs("s1")


@pytest.mark.parametrize("source", [None, 5, {"s1": "Where?"}, [5], ["s1"], [SystemOutputs("s1")]])
def test_input_without_samples_is_refused(source: Any) -> None:
    with pytest.raises(NotValid, match="sample"):
        read_samples(source)


def test_an_id_twice_is_refused_but_for_the_same_row_again(tmp_path: Path) -> None:
    assert len(read_samples([SAMPLE, SAMPLE])) == 1
    with pytest.raises(NotValid, match="'s1'"):
        read_samples([SAMPLE, {**SAMPLE, "query": "When?"}])
    path = tmp_path / "outputs.jsonl"
    path.write_text(json.dumps(OUTPUT) + "\n" + json.dumps({**OUTPUT, "response": "There."}) + "\n")
    with pytest.raises(UnreadableInput, match="s1"):
        read_outputs(path)


@pytest.mark.parametrize("content", ["", "\n", "not json\n", "[1]\n", '{"sample_id": "s1"\n'])
def test_files_without_samples_are_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(content)
    with pytest.raises((NotValid, UnreadableInput)):
        evaluate(path, [OUTPUT], "TokenF1")
    with pytest.raises(UnreadableInput):
        read_samples(tmp_path / "nowhere.jsonl")


def samples(*ids: str) -> list[EvaluationSample]:
    return read_samples([{"id": one, "query": "q", "reference_answer": one} for one in ids])


def outputs(*ids: str) -> list[SystemOutputs]:
    return read_outputs([{"id": one, "response": one} for one in ids])


def test_fewer_outputs_than_samples_and_unmatched_ids() -> None:
    with pytest.raises(NotValid, match=r"new: 2 of 3 samples have no output \('b', 'c'\)"):
        evaluate(samples("a", "b", "c"), {"new": outputs("a")}, "ExactMatch")
    with pytest.raises(NotValid, match=r"1 of 2 outputs have no sample \('z'\)"):
        evaluate(samples("a"), outputs("a", "z"), "ExactMatch")
    with pytest.raises(NotValid, match="no output matches a sample"):
        evaluate(samples("a"), outputs("z"), "ExactMatch", missing="skip")
    both = align(samples("a", "b"), outputs("z", "b"), "skip")
    assert ([one.sample_id for one in both.samples], both.missing, both.extra) == (["b"], ("a",), ("z",))
    for missing, value, number in (("skip", 1.0, 1), ("zero", 0.5, 2)):
        evaluation = evaluate(samples("a", "b"), outputs("z", "b"), "ExactMatch", missing=missing)  # type: ignore[arg-type]
        score = evaluation.systems[0].scores["ExactMatch"]
        assert (score.value, score.result.details["num_samples"]) == (value, number)
        assert len(evaluation.notes) == 2
    none = evaluate(samples("a"), [], "ExactMatch", missing="zero").systems[0].scores["ExactMatch"]
    assert (none.value, none.defined) == (0.0, True)
    with pytest.raises(NotValid, match="missing"):
        evaluate(samples("a"), outputs("a"), "ExactMatch", missing="ignore")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("field", ["reference_answer", "response", "text"])
def test_a_text_of_50_megabytes_is_refused(field: str, tmp_path: Path) -> None:
    text = "eight hours of light " * (50_000_000 // 21)
    row = {"id": "s1", "query": "q"} | ({"retrieved": [{"text": text}]} if field == "text" else {field: text})
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n")
    read = read_samples if field == "reference_answer" else read_outputs
    with pytest.raises(UnreadableInput, match=r"rows.jsonl:1.*16 MiB"):
        read(path)
    with pytest.raises(NotValid, match=f"(sample|output) 1: .*{field}.*16 MiB") as of_dict:
        read([row])
    records = {
        "reference_answer": EvaluationSample("s1", "q", Answer(text)),
        "response": SystemOutputs("s1", response=Answer(text)),
        "text": SystemOutputs("s1", (RetrievedDocument(Document("d1", text), 1),)),
    }
    with pytest.raises(NotValid) as of_record:
        read([records[field]])
    assert str(of_record.value) == str(of_dict.value)


@pytest.mark.parametrize("value", [None, True, 3, 2.5, "a", (1,), {"a": 1}, b"a", np.int64(3), np.array([1, 2])])
def test_values_are_named_without_python_types(value: object) -> None:
    text = value_kind(value)
    assert type(value).__name__ not in text.split()


def test_numpy_numbers_are_read_as_numbers() -> None:
    sample = {**SAMPLE, "sample_id": np.int64(7)}
    output = {
        "sample_id": np.int32(7),
        "retrieved": [
            {"doc_id": "d2", "score": np.float64(1.5), "rank": np.int64(2)},
            {"doc_id": np.int64(1), "score": np.float32(2.5), "rank": np.int64(1)},
        ],
        "response": "Here.",
        "timings": {"end_to_end": np.float32(0.5), "retrieval": np.int64(1), "generation": np.float64("nan")},
    }
    plain = {
        "sample_id": 7,
        "retrieved": [{"doc_id": "d2", "score": 1.5, "rank": 2}, {"doc_id": 1, "score": 2.5, "rank": 1}],
        "response": "Here.",
        "timings": {"end_to_end": 0.5, "retrieval": 1.0},
    }
    assert read_samples([sample]) == read_samples([{**SAMPLE, "sample_id": 7}])
    assert read_outputs([output]) == read_outputs([plain])
    assert isinstance(read_outputs([output])[0].timings["end_to_end"], float)
    unranked = {"sample_id": "s1", "retrieved": [{"doc_id": one, "rank": np.nan} for one in ("d2", "d1")]}
    assert [one.rank for one in read_outputs([unranked])[0].retrieved] == [1, 2]
    for wrong in (np.float64("inf"), np.bool_(True), np.float32(-1)):
        with pytest.raises(NotValid, match="end_to_end"):
            read_outputs([{**plain, "timings": {"end_to_end": wrong}}])


def test_missing_values_of_pandas_are_not_given() -> None:
    frame = pandas.DataFrame([SAMPLE, {**SAMPLE, "sample_id": "s2", "reference_answer": None}])
    frame = frame.astype({"sample_id": "string", "query": "string", "reference_answer": "string"})
    assert frame["reference_answer"][1] is pandas.NA
    assert [len(one.references) for one in read_samples(frame)] == [1, 0]
    with pytest.raises(NotValid, match="`query` is missing"):
        read_samples([{**SAMPLE, "query": pandas.NA}])


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"query": None}, "E11"),
        ({"query": ""}, "E11"),
        ({"query": "  "}, "E11"),
        ({"query": 5}, "E23"),
        ({"sample_id": True}, "E23"),
        ({"sample_id": 1.5}, "E23"),
        ({"sample_id": "a b"}, None),
        ({"reference_answer": 5}, "E23"),
        ({"reference_answer": {"answer": "here"}}, "E23"),
        ({"reference_answer": ["here", None]}, "E23"),
        ({"relevant_docs": "d1"}, "E23"),
        ({"relevant_docs": {"d1": 1}}, "E23"),
        ({"relevant_docs": [None]}, "E23"),
        ({"relevant_docs": [{"text": ""}]}, "E11"),
        ({"relevant_docs": [{"doc_id": "d1", "text": 5}]}, "E23"),
        ({"relevant_docs": [{"doc_id": "d1", "metadata": "x"}]}, "E23"),
        ({"candidate_docs": 5}, "E23"),
        ({"labels": ["typo"]}, "E23"),
        ({"labels": {"variant_of": 1.5}}, "E23"),
    ],
)
def test_each_odd_field_of_a_sample_has_its_code(tmp_path: Path, row: dict[str, Any], code: str | None) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (SAMPLE, {**SAMPLE, "sample_id": "s2"} | row)))
    result = samples_jsonl.read(path, path=str(path))
    assert [(one.line, one.code) for one in result.report.problems] == ([(2, code)] if code else [])
    assert len(result.rows) == (1 if code else 2)


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"response": 5}, "E23"),
        ({"response": ["Here."]}, "E23"),
        ({"retrieved": "d1"}, "E23"),
        ({"retrieved": [["d1"]]}, "E23"),
        ({"retrieved": [{"doc_id": "d1", "rank": 1}, "d2"]}, "E23"),
        ({"retrieved": [{"doc_id": "d1", "rank": 1}, {"doc_id": "d2", "rank": 1}]}, "E23"),
        ({"retrieved": [{"doc_id": "d1", "rank": 0}]}, "E12"),
        ({"retrieved": [{"doc_id": "d1", "score": "high"}]}, "E12"),
        ({"retrieved": [{"doc_id": "d1", "embedding": [1, 0]}, {"doc_id": "d2", "embedding": [1]}]}, "E23"),
        ({"retrieved": [{"doc_id": "d1", "embedding": ["x"]}]}, "E23"),
        ({"retrieved": [{"doc_id": "d1", "embedding": [1, 0]}, {"doc_id": "d2", "embedding": None}]}, None),
        ({"timings": 0.5}, "E23"),
        ({"timings": {"end_to_end": "0.5"}}, "E12"),
        ({"timings": {"end_to_end": -1}}, "E12"),
        ({"sample_id": []}, "E23"),
        ({"contexts": ["x"], "retrieved": None}, None),
    ],
)
def test_each_odd_field_of_an_output_has_its_code(tmp_path: Path, row: dict[str, Any], code: str | None) -> None:
    path = tmp_path / "outputs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (OUTPUT, {**OUTPUT, "sample_id": "s2"} | row)))
    result = outputs_jsonl.read(path, path=str(path))
    assert [(one.line, one.code) for one in result.report.problems] == ([(2, code)] if code else [])
    assert len(result.rows) == (1 if code else 2)


def test_a_row_that_is_no_output_has_its_code(tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    path.write_text('{"sample_id": "s1", "query": "Where?"}\n')
    result = outputs_jsonl.read(path, path=str(path))
    assert [(one.line, one.code) for one in result.report.problems] == [(1, "E23")]
