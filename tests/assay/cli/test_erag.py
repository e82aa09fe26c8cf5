"""Tests of ``assay erag`` with a model over HTTP and with a function."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rouge_score.rouge_scorer import RougeScorer
from scipy.stats import kendalltau, spearmanr

from tests.assay.conftest import Call
from tests.model_server import Answer, ModelServer, serving

NUMBER = 8
# Document a holds the answer of every second question, b a part of it, c nothing.
SAMPLES = [{"sample_id": f"s{n}", "query": f"Color of seal {n}?", "reference_answer": f"red as seal {n}"}
           for n in range(NUMBER)]  # fmt: skip
GOOD, PART, BAD = "red as seal {n}", "red", "nothing about it"


def texts(n: int) -> dict[str, str]:
    return {"a": (GOOD if n % 2 else BAD).format(n=n), "b": PART, "c": BAD}


OUTPUTS = [{"sample_id": f"s{n}", "retrieved": [{"doc_id": name, "text": text} for name, text in texts(n).items()]}
           for n in range(NUMBER)]  # fmt: skip
READER = '''
import time

def longest(query, documents):
    """Answers with the longest document that is about red."""
    assert isinstance(documents, list)
    return max((text for text in documents if "red" in text), key=len, default=documents[0])

def raises(query, documents):
    raise RuntimeError("out of memory")

def hangs(query, documents):
    time.sleep(60)

def number(query, documents):
    return 7
'''
ERAG = ("erag", "samples.jsonl", "outputs.jsonl")
OWN = ("--task", "erag_reader:longest")


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def f1(answer: str, reference: str) -> float:
    """The F1 of two texts whose words all differ."""
    mine, theirs = set(answer.split()), set(reference.split())
    return 2 * len(mine & theirs) / (len(mine) + len(theirs))


@pytest.fixture(autouse=True)
def files(assay: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    write("samples.jsonl", SAMPLES)
    write("outputs.jsonl", OUTPUTS)
    Path("erag_reader.py").write_text(READER)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "erag_reader", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    def answer(prompt: str, number: int) -> Answer:
        lines = [line for line in prompt.splitlines() if line.startswith("red") or line == BAD]
        return Answer(max((line for line in lines if line != BAD), key=len, default=lines[0]))

    with serving(answer) as model_server:
        yield model_server


def as_json(assay: Call, *words: str) -> dict[str, Any]:
    status, out, err = assay(*ERAG, *words, "--format", "json")
    assert status == 0, err
    parsed: dict[str, Any] = json.loads(out)
    return parsed


def expected(k: int) -> tuple[list[list[float]], list[float]]:
    """The labels of each list by hand, and the score of the answer from the whole list."""
    labels, whole = [], []
    for n in range(NUMBER):
        scores = [f1(text, SAMPLES[n]["reference_answer"]) for text in list(texts(n).values())[:k]]
        labels.append(scores)
        whole.append(max(scores))
    return labels, whole


@pytest.mark.parametrize("by", ["function", "model"])
def test_labels_lists_and_correlation_are_those_by_hand(assay: Call, server: ModelServer, by: str) -> None:
    model = ("--model", "m", "--base-url", server.url, "--ledger", "calls.jsonl")
    usefulness = as_json(assay, "-k", "2", *(OWN if by == "function" else model), "--labels-out", "useful.jsonl")
    labels, whole = expected(2)
    (run,) = usefulness["runs"]
    means = [sum(one) / 2 for one in labels]
    assert run["metrics"]["P@2"]["mean"] == pytest.approx(sum(means) / NUMBER)
    assert run["metrics"]["Hit@2"]["mean"] == pytest.approx(sum(whole) / NUMBER)
    assert run["end_to_end"] == {"mean": pytest.approx(sum(whole) / NUMBER), "queries": NUMBER}
    assert run["metrics"]["P@2"]["tau"] == pytest.approx(kendalltau(means, whole)[0])
    assert run["metrics"]["P@2"]["rho"] == pytest.approx(spearmanr(means, whole)[0])
    assert "nDCG@2" in run["metrics"]
    rows = [json.loads(line) for line in Path("useful.jsonl").read_text().splitlines()]
    assert {(row["query_id"], row["doc_id"]): row["usefulness"] for row in rows} == {
        (f"s{n}", name): pytest.approx(score)
        for n in range(NUMBER)
        for name, score in zip("ab", labels[n], strict=True)
    }
    # The labels are what `assay usefulness` reads.
    Path("own.run").write_text(
        "".join(f"s{n} Q0 {d} 1 {9 - i} own\n" for n in range(NUMBER) for i, d in enumerate("ab"))
    )
    status, out, err = assay("usefulness", "useful.jsonl", "own.run", "-k", "2", "--format", "json")
    assert status == 0, err
    assert json.loads(out)["runs"][0]["metrics"]["P@2"]["mean"] == run["metrics"]["P@2"]["mean"]
    if by == "model":
        # Two documents and a list for each question; the list has both texts in one prompt.
        assert len(server.requests) == 3 * NUMBER
        lines = [prompt.splitlines() for prompt in server.prompts]
        assert sum(PART in one and GOOD.format(n=1) in one for one in lines) == 1
        again = as_json(assay, "-k", "2", *model, "--resume")
        assert (again["runs"], len(server.requests)) == (usefulness["runs"], 3 * NUMBER)


def test_rouge_is_a_metric_of_the_task(assay: Call) -> None:
    usefulness = as_json(assay, "-k", "3", *OWN, "--task-metric", "RougeL")
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    scores = [
        scorer.score(SAMPLES[n]["reference_answer"], text)["rougeL"].fmeasure
        for n in range(NUMBER)
        for text in texts(n).values()
    ]
    assert usefulness["runs"][0]["metrics"]["P@3"]["mean"] == pytest.approx(sum(scores) / len(scores))


def test_binary_labels_take_any_ranking_metric(assay: Call) -> None:
    usefulness = as_json(assay, *OWN, "-k", "3", "--task-metric", "ExactMatch", "-m", "AP RR@3 R@3")
    metrics = usefulness["runs"][0]["metrics"]
    # Only the queries with something useful have a reciprocal rank above 0.
    assert metrics["RR@3"]["mean"] == 0.5
    assert metrics["AP"]["mean"] == 0.5
    status, _, err = assay(*ERAG, *OWN, "-m", "AP")
    assert (status, "fractions" in err) == (2, True)


def test_end_to_end_answers_are_capped_and_written(assay: Call, server: ModelServer) -> None:
    model = ("--model", "m", "--base-url", server.url, "-k", "2")
    usefulness = as_json(assay, *model, "--end-to-end", "3", "--seed", "1", "--outputs-out", "whole.jsonl")
    assert len(server.requests) == 2 * NUMBER + 3
    assert usefulness["runs"][0]["metrics"]["P@2"]["queries"] == 3
    rows = [json.loads(line) for line in Path("whole.jsonl").read_text().splitlines()]
    assert len(rows) == 3
    status, out, err = assay(
        "rag", "samples.jsonl", "whole.jsonl", "-m", "TokenF1", "--missing", "skip", "--format", "json"
    )
    assert status == 0, err
    score = json.loads(out)["systems"][0]["metrics"]["TokenF1"]
    assert score["value"] == pytest.approx(usefulness["runs"][0]["end_to_end"]["mean"])
    none = as_json(assay, *model, "--end-to-end", "0")
    assert len(server.requests) == 4 * NUMBER + 3
    assert "tau" not in none["runs"][0]["metrics"]["P@2"]


def test_unanswered_queries_have_no_label(assay: Call, server: ModelServer) -> None:
    plain = server.answer
    server.answer = lambda prompt, number: (
        Answer("I will not", stop="refused") if GOOD.format(n=1) in prompt else plain(prompt, number)
    )
    write("samples.jsonl", [*SAMPLES[:-1], {"sample_id": "s7", "query": "Color of seal 7?"}])
    usefulness = as_json(assay, "--model", "m", "--base-url", server.url, "-k", "2")
    assert usefulness["unlabeled"] == {"no_answer": 1}
    assert usefulness["left_out"] == {"no_reference": 1}
    assert usefulness["runs"][0]["unlabelled_queries"] == 1
    assert not [prompt for prompt in server.prompts if "seal 7?" in prompt]


def test_a_cap_ends_the_run_without_numbers(assay: Call, server: ModelServer) -> None:
    words = (*ERAG, "--model", "m", "--base-url", server.url, "--ledger", "calls.jsonl")
    status, out, err = assay(*words, "--max-calls", "5")
    assert (status, out, len(server.requests)) == (1, "", 5)
    assert "stopped early" in err
    # Three documents and a list; in half of the questions two documents have one text.
    every = 4 * NUMBER - NUMBER // 2
    status, out, _ = assay(*words, "--dry-run")
    assert (status, f"questions to ask: {every - 5}\n" in out, len(server.requests)) == (0, True, 5)
    assert assay(*words, "--resume")[0] == 0
    assert len(server.requests) == every


def test_an_unknown_ranking_metric_is_refused_before_the_model_is_asked(assay: Call, server: ModelServer) -> None:
    status, out, err = assay(*ERAG, "--model", "m", "--base-url", server.url, "-m", "RougeL")
    assert (status, out, server.requests) == (2, "", [])
    assert "'RougeL'" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--task", "erag_reader:raises"), "query 's0': raised RuntimeError: out of memory"),
        (("--task", "erag_reader:hangs", "--timeout", "0.2"), "query 's0': did not return within 0.2 s"),
        (("--task", "erag_reader:number"), "returned a number"),
        (("--task", "erag_reader:absent"), "has no absent"),
        ((), "--model"),
        ((*OWN, "-k", "0"), "k is 0"),
        ((*OWN, "--end-to-end", "-1"), "end_to_end"),
        ((*OWN, "--task-metric", "BertScore"), "BertScore"),
        ((*OWN, "--task-metric", "LLMAnswerQuality"), "critic"),
        ((*OWN, "--template", "reader.py"), "--template"),
    ],
)
def test_errors_are_one_line(assay: Call, words: tuple[str, ...], message: str) -> None:
    status, out, err = assay(*ERAG, *words)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ({"sample_id": "s0", "retrieved": ["a"]}, "'a' that was retrieved for 's0' has no text"),
        ({"sample_id": "s0", "retrieved": []}, "nothing was retrieved"),
    ],
)
def test_documents_without_texts_are_refused(assay: Call, output: dict[str, Any], message: str) -> None:
    write("outputs.jsonl", [output])
    status, _, err = assay(*ERAG, *OWN)
    assert (status, message in err) == (2, True), err


def test_systems_share_the_labels_of_a_document(assay: Call, server: ModelServer) -> None:
    turned = [{**one, "retrieved": one["retrieved"][::-1]} for one in OUTPUTS]
    write("turned.jsonl", turned)
    words = (*ERAG, "turned.jsonl", "--model", "m", "--base-url", server.url, "-k", "3", "--format", "json")
    status, out, err = assay(*words)
    assert status == 0, err
    first, second = json.loads(out)["runs"]
    assert first["metrics"]["P@3"]["mean"] == second["metrics"]["P@3"]["mean"]
    assert first["metrics"]["nDCG@3"]["mean"] > second["metrics"]["nDCG@3"]["mean"]
    # Three documents once, and a list for each system; in half of the questions a and c have one text.
    assert len(server.requests) == 5 * NUMBER - 2 * (NUMBER // 2)
    turned[0]["retrieved"][0]["text"] = "another text"
    write("turned.jsonl", turned)
    status, _, err = assay(*words)
    assert (status, "two texts" in err) == (2, True)


def test_a_critic_may_score_the_answers(assay: Call, server: ModelServer) -> None:
    server.answer = lambda prompt, number: Answer("0.25" if "quality" in prompt else "red")
    metric = "LLMAnswerQuality(dimensions=[clarity], scale='0-1')"
    usefulness = as_json(assay, "--model", "m", "--base-url", server.url, "-k", "1", "--task-metric", metric)
    assert usefulness["runs"][0]["metrics"]["P@1"]["mean"] == 0.25
