"""Tests of relevance by expected answers in ``assay rag``."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.assay.conftest import Call
from tests.model_server import Answer, serving

# The example of the judge design of Evret.
QUESTIONS = [
    {
        "query_id": "q1",
        "query": "What is RAG?",
        "expected_answers": [
            "RAG combines retrieval with generation for better accuracy",
            "Retrieval-augmented generation improves LLM responses",
        ],
    }
]
TEXTS = ["RAG is a technique that combines retrieval with generation", "Vector databases store embeddings"]
RETRIEVED = [
    {"query_id": "q1", "retrieved": [{"doc_id": "doc_123", "score": 0.95, "text": TEXTS[0]},
                                     {"doc_id": "doc_456", "score": 0.87, "text": TEXTS[1]}]}
]  # fmt: skip
METRICS = ("-m", "recall@2 precision@2 hit_rate@2")
SEED = {"RecallAtK(k=2)": 0.5, "PrecisionAtK(k=2)": 0.5, "HitRateAtK(k=2)": 1.0}
WORDS = ("--judge", "token_overlap", "--min-tokens", "3")
OWN = """
import time
import numpy

class Words:
    def judge(self, context):
        return len(set(context.expected_text.lower().split()) & set(context.retrieved_text.lower().split())) > 3

class Named:
    def judge(self, retrieved_text, expected_text, query="x"):
        assert query == "What is RAG?"
        return Words().judge(Both(expected_text, retrieved_text))

class Both:
    def __init__(self, expected_text, retrieved_text):
        self.expected_text, self.retrieved_text = expected_text, retrieved_text

class Batch:
    def batch_judge(self, contexts):
        return numpy.array([Words().judge(one) for one in contexts])

def plain(context):
    return Words().judge(context)

class Raises:
    def judge(self, context):
        raise ValueError("no such model")

class Hangs:
    def judge(self, context):
        time.sleep(60)

class Texts:
    def judge(self, context):
        return "yes"

class Short:
    def batch_judge(self, contexts):
        return [True]

class Nothing:
    pass

class Unmade:
    def __init__(self, model):
        self.model = model

class Odd:
    def judge(self, one, two):
        return True
"""
RETRIEVER = f"""
import time
TEXTS = {TEXTS!r}

class Result:
    def __init__(self, doc_id, score, text):
        self.doc_id, self.score, self.metadata = doc_id, score, {{"text": text}}

def texts(query):
    assert query == "What is RAG?"
    return TEXTS

def first(query, k):
    return TEXTS[::-1][:k] + ["never shown"] * 5

def objects(query, k=10):
    return (one for one in [Result("a", 0.9, TEXTS[0]), {{"doc_id": "b", "text": TEXTS[1]}}])

def raises(query):
    raise KeyError(query)

def hangs(query):
    time.sleep(60)

def number(query):
    return 7

def odd(query):
    return [7, {{"doc_id": "", "text": ""}}]

VALUE = 3
"""


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def values(out: str, system: int = 0) -> dict[str, float]:
    return {name: one["value"] for name, one in json.loads(out)["systems"][system]["metrics"].items()}


@pytest.fixture(autouse=True)
def files(assay: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    write("questions.jsonl", QUESTIONS)
    write("retrieved.jsonl", RETRIEVED)
    for name, text in (("evret_judges", OWN), ("evret_retrievers", RETRIEVER)):
        Path(f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_the_example_of_the_design_in_one_command(assay: Call) -> None:
    words = (
        "rag questions.jsonl retrieved.jsonl --judge token_overlap --min-tokens 3 -m 'recall@2 precision@2 hit_rate@2'"
    )
    status, out, err = assay(*shlex.split(words))
    assert (status, err) == (0, "")
    lines = {line.split()[0]: line.split()[1] for line in out.splitlines() if "@" in line or "AtK" in line}
    assert lines == {"RecallAtK(k=2)": "0.5000", "PrecisionAtK(k=2)": "0.5000", "HitRateAtK(k=2)": "1.0000"}
    assert "token_overlap" in out


def test_ids_are_those_of_the_design() -> None:
    from assay.llm.judges.token_overlap import TokenOverlap
    from assay.rag import read_outputs, read_samples
    from assay.rag.expected_answers import expected_as_relevant, judged

    samples = expected_as_relevant(read_samples(QUESTIONS))
    (output,) = judged(samples, read_outputs(RETRIEVED), TokenOverlap(min_tokens=3))
    assert [one.doc.doc_id for one in output.retrieved] == [
        "relevant_doc_1",
        "retrieved_1:vector databases store embeddings",
    ]
    assert [one.doc.metadata["doc_id"] for one in output.retrieved] == ["doc_123", "doc_456"]
    assert samples[0].relevant_ids == {"relevant_doc_1", "relevant_doc_2"}


def test_a_text_counts_for_the_first_answer_and_an_answer_counts_once(assay: Call) -> None:
    both = [{**RETRIEVED[0], "retrieved": [{"text": TEXTS[0]}, {"text": TEXTS[0] + "."}]}]
    write("retrieved.jsonl", both)
    status, out, _ = assay("rag", "questions.jsonl", "retrieved.jsonl", *WORDS, *METRICS, "--format", "json")
    assert (status, values(out)) == (0, SEED)


@pytest.mark.parametrize("name", ["Words", "Named", "Batch", "plain"])
def test_a_class_of_ones_own_judges(assay: Call, name: str) -> None:
    words = ("rag", "questions.jsonl", "retrieved.jsonl", "--judge", f"evret_judges:{name}", *METRICS)
    status, out, err = assay(*words, "--format", "json")
    assert (status, err, values(out)) == (0, "", SEED)
    assert f"evret_judges:{name}" in json.loads(out)["notes"][0]
    pairs = [{"query_id": "q1", "query": "What is RAG?", "doc_id": f"d{n}", "text": text,
              "expected": QUESTIONS[0]["expected_answers"]} for n, text in enumerate(TEXTS)]  # fmt: skip
    write("pairs.jsonl", pairs)
    status, out, err = assay("judge", "pairs.jsonl", "--judge", f"evret_judges:{name}")
    assert status == 0, err
    assert [json.loads(line)["relevant"] for line in out.splitlines()] == [True, False]
    assert [json.loads(line)["judge"] for line in out.splitlines()] == [f"evret_judges:{name}"] * 2


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ("evret_judges:Raises", "ValueError: no such model"),
        ("evret_judges:Hangs", "did not return within 0.2 s"),
        ("evret_judges:Texts", "'yes'"),
        ("evret_judges:Short", "returned 1 answer for"),
        ("evret_judges:Nothing", "neither judge(context) nor batch_judge(contexts)"),
        ("evret_judges:Unmade", "TypeError"),
        ("evret_judges:Odd", "parameter 'one'"),
        ("evret_judges:Absent", "has no Absent"),
        ("no_such_module:Judge", "the module no_such_module"),
    ],
)
def test_a_class_that_fails_is_named_with_the_query(assay: Call, judge: str, message: str) -> None:
    pair = {"query_id": "q1", "query": "What is RAG?", "doc_id": "d", "text": "t", "expected": ["a", "b"]}
    write("pairs.jsonl", [pair])
    for words in (("rag", "questions.jsonl", "retrieved.jsonl"), ("judge", "pairs.jsonl")):
        status, out, err = assay(*words, "--judge", judge, "--timeout", "0.2")
        assert (status, out) == (2, "")
        assert message in err
        assert judge.partition(":")[0] in err
        assert err.count("\n") == 1
        if judge.split(":")[1] in ("Raises", "Hangs", "Texts", "Short"):
            assert "What is RAG?" in err


@pytest.mark.parametrize(("name", "recall"), [("texts", 0.5), ("objects", 0.5), ("first", 0.0)])
def test_a_function_of_ones_own_retrieves(assay: Call, name: str, recall: float) -> None:
    words = ("rag", "questions.jsonl", "--retriever", f"evret_retrievers:{name}", *WORDS, "-m", "recall@2")
    status, out, err = assay(*words, "--depth", "2" if name != "first" else "1", "--format", "json")
    assert (status, err) == (0, "")
    assert (values(out), json.loads(out)["systems"][0]["name"]) == ({"RecallAtK(k=2)": recall}, name)


def test_retrievers_and_files_are_compared(assay: Call) -> None:
    words = ("rag", "questions.jsonl", "file=retrieved.jsonl", "--retriever", "own=evret_retrievers:first", *WORDS)
    status, out, err = assay(*words, "-m", "recall@1 MeanLatency(timing_key=retrieval)", "--format", "json")
    assert status == 0, err
    assert [one["name"] for one in json.loads(out)["systems"]] == ["file", "own"]
    assert [values(out, place)["RecallAtK(k=1)"] for place in (0, 1)] == [0.5, 0.0]
    timed = [one["metrics"]["MeanLatency(timing_key=retrieval)"]["details"] for one in json.loads(out)["systems"]]
    assert [one["defined"] for one in timed] == [False, True]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raises", "raised KeyError"),
        ("hangs", "did not return within 0.2 s"),
        ("number", "returned int"),
        ("odd", "q1"),
        ("VALUE", "not a function"),
        ("absent", "has no absent"),
    ],
)
def test_a_function_that_fails_is_named_with_the_query(assay: Call, name: str, message: str) -> None:
    words = ("rag", "questions.jsonl", "--retriever", f"evret_retrievers:{name}", *WORDS, *METRICS)
    status, out, err = assay(*words, "--timeout", "0.2")
    assert (status, out) == (2, "")
    assert message in err
    assert f"evret_retrievers:{name}" in err
    assert err.count("\n") == 1


def test_a_run_has_its_texts_from_the_documents(assay: Call) -> None:
    Path("trec.run").write_text("q1 Q0 doc_456 1 0.5 r\nq1 Q0 doc_123 2 0.9 r\n")
    write(
        "docs.jsonl", [{"doc_id": name, "text": text} for name, text in zip(("doc_123", "doc_456"), TEXTS, strict=True)]
    )
    words = ("rag", "questions.jsonl", "trec.run", *WORDS, "-m", "recall@1", "--format", "json")
    status, _, err = assay(*words)
    assert (status, "doc_123" in err, "--documents" in err) == (2, True, True)
    status, out, err = assay(*words, "--documents", "docs.jsonl")
    assert (status, values(out)) == (0, {"RecallAtK(k=1)": 0.5}), err


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        ('{"timings": {"end_to_end": 0.5}, "sample_id": "q1"}', True),
        ('{"sample_id": "q1", "response": "x", "score": 1, "query_id": "q1", "doc_id": "d"}', True),
        ('{"q1": {"d1": 0.5}}', False),
        ('{"query_id": "q1", "doc_id": "d1", "score": 0.5}', False),
        ("q1 Q0 d1 1 0.5 r", False),
        (json.dumps({"sample_id": "q1", "retrieved": [{"doc_id": "d", "score": 1, "text": "long " * 20_000}]}), True),
    ],
)
def test_outputs_and_runs_are_distinguished(text: str, outputs: bool) -> None:
    from assay.cli.rag.retrieval import run_as_outputs

    Path("either").write_text(text + "\n")
    assert (run_as_outputs("either", "either") is None) is outputs


def test_an_engine_retrieves_documents(assay: Call) -> None:
    rows = [("doc_123", 2.5, "RAG", TEXTS[0]), ("doc_456", 1.5, "", TEXTS[1])]
    lines = ["query,doc_id,score,title,text", *(f"What is RAG?,{','.join(map(str, row))}" for row in rows)]
    Path("answers.csv").write_text("\n".join(lines) + "\n")
    words = ("rag", "questions.jsonl", "--engine", "static-file", "--set", "path=answers.csv", *WORDS, *METRICS)
    status, out, err = assay(*words, "--format", "json")
    assert status == 0, err
    assert values(out) == SEED


def test_a_model_judges_pays_once_and_what_it_does_not_say_is_counted(
    assay: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")

    def answer(prompt: str, number: int) -> Answer:
        if "Vector databases" in prompt and "improves LLM" in prompt:
            return Answer("perhaps")
        return Answer("YES" if "combines retrieval with generation for" in prompt and "technique" in prompt else "NO")

    with serving(answer) as server:
        words = ("rag", "questions.jsonl", "retrieved.jsonl", "--judge", "expected_answer", "--model", "m", *METRICS)
        words += ("--base-url", server.url, "--ledger", "calls.jsonl", "--format", "json")
        status, out, _ = assay(*words, "--dry-run")
        assert (status, "questions to ask: 4\n" in out, server.requests) == (0, True, [])
        status, out, err = assay(*words, "--max-calls", "2")
        assert (status, out, "stopped early" in err) == (1, "", True)
        status, out, err = assay(*words, "--resume")
        assert (status, values(out)) == (0, SEED), err
        assert any("1 unreadable answer" in note for note in json.loads(out)["notes"])
        # Four questions, and one again in other words.
        assert len(server.requests) == 5
        assert assay(*words, "--resume")[1] == out
        assert len(server.requests) == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--judge", "token_overlapp"), "token_overlap"),
        (("--judge", "expected_answer"), "--model"),
        (("--min-tokens", "3"), "--min-tokens"),
        (("--judge", "token_overlap", "--threshold", "7"), "threshold"),
        (("--judge", "semantic", "--min-tokens", "3"), "min_tokens"),
        (("--retriever", "evret_retrievers:texts", "--depth", "0"), "--depth"),
        (("--retriever", "evret_retrievers"), "module:name"),
        (("--retriever", "retrieved=evret_retrievers:texts"), "two systems"),
        (("--timeout", "-1", "--judge", "evret_judges:Words"), "--timeout"),
    ],
)
def test_errors_are_one_line(assay: Call, words: tuple[str, ...], message: str) -> None:
    status, out, err = assay("rag", "questions.jsonl", "retrieved.jsonl", *words)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_judge_is_for_samples_without_relevant_documents(assay: Call) -> None:
    write("questions.jsonl", [{**QUESTIONS[0], "relevant_docs": ["doc_123"]}])
    status, _, err = assay("rag", "questions.jsonl", "retrieved.jsonl", *WORDS, *METRICS)
    assert (status, "'q1'" in err) == (2, True)


def test_nothing_to_measure_is_refused(assay: Call) -> None:
    status, _, err = assay("rag", "questions.jsonl", *WORDS, *METRICS)
    assert (status, "--retriever" in err) == (2, True)


def test_the_examples_of_the_page_run(assay: Call) -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "rag-models.md").read_text(encoding="utf-8")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.M | re.S)
    blocks = [block for language, block in fenced if not language]
    questions, retrieved = (block for block in blocks if block.startswith("{"))
    Path("questions.jsonl").write_text(questions)
    Path("retrieved.jsonl").write_text(retrieved)
    (command,) = (block for block in blocks if block.startswith("assay "))
    status, out, err = assay(*shlex.split(command)[1:], "--format", "json")
    assert (status, err, values(out)) == (0, "", SEED)
    write("samples.jsonl", [{"sample_id": "s1", "query": "Where?", "reference_answer": "here"}])
    write("outputs.jsonl", [{"sample_id": "s1", "response": "There."}])
    for block in (block for language, block in fenced if language == "python"):
        space: dict[str, Any] = {}
        exec(block, space)
        if "evaluation" in space:
            (score,) = space["evaluation"].systems[0].scores.values()
            assert score.value == 1.0
