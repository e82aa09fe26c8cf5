"""Tests of the zbench formats: data sets, annotated data sets, model answers, detection."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import FORMATS, sniff
from assay.formats.battles_jsonl import Battle
from assay.formats.row_types import PairRow


def line(*documents: dict[str, Any], query: str = "q1") -> str:
    return json.dumps({"query": {"id": query, "query": "tents"}, "documents": list(documents)}) + "\n"


def scored_pairs(**answers: Any) -> bytes:
    pair = {"pair_id": "p", "query_id": "q1", "query": "tents"}
    pair |= {
        f"document_{side}": {"document_id": doc, "metadata": {}, "content": ""}
        for side, doc in (("a", answers.pop("a", "x")), ("b", answers.pop("b", "y")))
    }
    made = {f"{model}_score": {"score": score, "thought": thought} for model, (score, thought) in answers.items()}
    return json.dumps({"scored_pairs": [{"pair": pair, **made}]}, indent=4).encode()


ONE = {"id": "d1", "content": "A tent.", "metadata": {"page": 3}}


def test_a_data_set_is_pairs_with_texts_and_keeps_its_metadata() -> None:
    data = line(ONE, {"id": "d2", "content": "A bag."}) + line(query="q2")
    result = FORMATS["zbench-dataset"].read(data.encode(), path="a")
    assert [(row.query_id, row.doc_id, row.query, row.text, row.metadata) for row in result.rows] == [
        ("q1", "d1", "tents", "A tent.", {"page": 3}),
        ("q1", "d2", "tents", "A bag.", {}),
    ]
    assert (result.report.bins["header"], result.report.units) == (2, 4)


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ('{"query": {"id": "q"}, "documents": []}', "query.query is not text"),
        ('{"query": {"id": "", "query": "q"}, "documents": []}', "the query id is empty"),
        ('{"query": "q", "documents": []}', "query is not an object"),
        (line({"id": "a"}, query="q").strip(), "is not text"),
        (line({**ONE, "metadata": 3}, query="q").strip(), "metadata"),
        (line(ONE, {**ONE, "content": "else"}, query="q").strip(), "contradicts"),
        (line({**ONE, "score": "1"}, query="q").strip(), "not a number"),
        (line({**ONE, "score": 1}, {**ONE, "id": "d2"}, query="q").strip(), "has no score"),
        (line(ONE, query="q1").strip(), "is already on line 1"),
        ("[]", "not a JSON object"),
    ],
)
def test_odd_data_sets_are_refused_with_their_line(odd: str, message: str) -> None:
    data = f"{line(ONE)}{line(ONE, query='q2')}{odd}\n"
    report = FORMATS["zbench-dataset"].read(data.encode(), path="odd.jsonl").report
    assert {problem.line for problem in report.errors} == {3}
    assert any(message in problem.what for problem in report.errors)
    with pytest.raises(NotValid, match=r"odd\.jsonl:3"):
        report.raise_if_errors()


def test_an_annotated_data_set_has_a_score_for_each_document() -> None:
    report = FORMATS["zbench-annotated"].read(line(ONE).encode(), path="a").report
    assert report.errors[0].what == "'d1' has no score"
    result = FORMATS["zbench-annotated"].read(line({**ONE, "score": -0.5}).encode(), path="a")
    assert [(row.score, row.se, row.text) for row in result.rows] == [(-0.5, None, "A tent.")]


def test_answers_of_the_three_models() -> None:
    data = scored_pairs(openai=(0.5, "y is larger"), gemini=(-1.5, "(SWAPPED)\nx is drier"), anthropic=(0.0, ""))
    result = FORMATS["zbench-ai-scores"].read(data, path="ai_scores.json")
    assert [(one.model, one.score, one.swapped, one.reason) for one in result.rows] == [
        ("openai", 0.5, False, "y is larger"),
        ("gemini", -1.0, True, "x is drier"),
        ("anthropic", None, False, ""),
    ]
    assert (result.report.codes, result.report.ok) == ({"W52": 1, "W36": 1}, True)


def test_document_compared_with_itself_is_skipped_and_reported() -> None:
    whole = dict.fromkeys(("openai", "gemini", "anthropic"), (0.5, "because"))
    result = FORMATS["zbench-ai-scores"].read(scored_pairs(a="x", b="x", **whole), path="a")
    assert (result.rows, result.report.ok, result.report.codes["W53"]) == ([], True, 1)


@pytest.mark.parametrize(
    "data",
    [
        b'{"scored_pairs": [{"pair": {}}]}',
        b'{"scored_pairs": [3]}',
        scored_pairs(),
        scored_pairs(openai=(1, "a"), gemini=(1, "a"), anthropic=("1", "a")),
        b'{"scored_pairs": {}}',
        b'{"scored_pairs": [',
        b'{"scored_pairs": [NaN]}',
    ],
)
def test_invalid_files_are_refused(data: bytes) -> None:
    with pytest.raises(UnreadableInput, match=r"ai\.json"):
        FORMATS["zbench-ai-scores"].read(data, path="ai.json").report.raise_if_errors()


def test_each_draw_of_a_pair_is_written() -> None:
    once = [Battle("q1", "x", "y", score, model) for model, score in (("openai", 1.0), ("gemini", -0.5))]
    thrice = [*once, Battle("q1", "x", "y", None, "anthropic")]
    stream = io.BytesIO()
    member = FORMATS["zbench-ai-scores"]
    assert member.write is not None
    written = member.write([*thrice, *thrice], stream)
    assert (written.rows, len(json.loads(stream.getvalue())["scored_pairs"])) == (6, 2)
    assert len(written.notes) == 1
    assert member.read(stream.getvalue(), path="a").rows[3:] == member.read(stream.getvalue(), path="a").rows[:3]
    with pytest.raises(NotValid):
        member.write([Battle("q1", "x", "y", 1.0)], io.BytesIO())


def test_all_models_of_a_pair_are_read_and_written() -> None:
    data = scored_pairs(**{"llama3:8b": (0.5, "a is drier"), "openai": (-0.25, "b"), "gpt_oss": (1.0, "a")})
    member = FORMATS["zbench-ai-scores"]
    result = member.read(data, path="a")
    assert [(row.model, row.score) for row in result.rows] == [("llama3:8b", 0.5), ("openai", -0.25), ("gpt_oss", 1.0)]
    stream = io.BytesIO()
    assert member.write is not None
    assert len(member.write(result.rows, stream).notes) == 1
    assert json.loads(stream.getvalue()) == json.loads(data)
    odd = json.loads(data)
    odd["scored_pairs"][0]["cost"] = 3
    assert "W41" in member.read(json.dumps(odd).encode(), path="a").report.codes


def test_unrepresentable_rows_are_reported() -> None:
    member = FORMATS["zbench-dataset"]
    assert member.write is not None
    rows = [PairRow("q1", "d1", "tents", "for two", "A tent.", ("yes",), 3), PairRow("q1", "d2", "tents")]
    assert [note.split(" have")[0].split(" cannot")[0] for note in member.write(rows, io.BytesIO()).notes] == [
        "1 documents",
        "1 narratives",
        "1 expected answers",
        "1 ranks",
    ]
    with pytest.raises(NotValid, match="--queries"):
        member.write([PairRow("q1", "d1")], io.BytesIO())
    with pytest.raises(NotValid, match="assay zelo fit --annotate"):
        FORMATS["zbench-annotated"].write(rows, io.BytesIO())  # type: ignore[misc]


def test_sniffing_recognizes_zbench() -> None:
    assert sniff(line(ONE).encode()) == sniff(line().encode()) == "zbench-dataset"
    assert sniff(line({**ONE, "score": 1.0}).encode()) == "zbench-annotated"
    assert sniff(line({**ONE, "score": 1.0}).encode(), "pairs") == "zbench-dataset"
    # A score that the search engine left in the metadata, and a word in a text, are no annotation.
    assert sniff(line({**ONE, "metadata": {"score": 3}}).encode()) == "zbench-dataset"
    long = line(*({"id": f"d{at}", "content": 'the "score" ' * 400} for at in range(30))).encode()
    assert len(long) > 1 << 16
    assert sniff(long[: 1 << 16]) == "zbench-dataset"
    pairs = {"query_id": "q1", "query": "documents", "doc_id": "d1", "text": '{"query": {"documents": []}}'}
    assert sniff((json.dumps(pairs) + "\n").encode()) == "pairs-jsonl"
    assert sniff(json.dumps({"query": "tents", "documents": 3}).encode()) == "query-log-jsonl"
    for qrels in (b'{"documents": {"d1": 3}, "query": {"d2": 1}}', b'{"query": {"d1": 3}, "documents": {"d2": 1}}'):
        assert "zbench" not in str(sniff(qrels))
