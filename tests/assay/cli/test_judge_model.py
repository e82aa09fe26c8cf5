"""Tests of ``assay judge`` with a model: ledger, budget, failures and errors."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.assay.conftest import Call
from tests.model_server import Answer, ModelServer, serving

ASK = ("judge", "pairs.jsonl", "--judge", "graded", "--model", "a-model", "--out", "machine.jsonl")
PRICES = ("--price-in", "2", "--price-out", "8")


def write_pairs(number: int, **more: Any) -> None:
    of = {"query_id": "q1", "query": "tent", "expected": "two", **more}
    rows = [{**of, "doc_id": f"d{n:03}", "text": f"Tent number {n} for two."} for n in range(number)]
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def lines(path: str = "machine.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def graded(grade: int) -> str:
    return json.dumps({"reason": "because", "grade": grade})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    with serving() as model_server:
        yield model_server


def test_answers_become_labels_and_every_call_is_in_the_ledger(assay: Call, server: ModelServer) -> None:
    write_pairs(3)
    Path("rules.md").write_text("A tent for two is at most 2.")
    Path("scale.csv").write_text("grade,label,cue\n0,Poor,no help\n2,Good,\n1,Fair,\n")
    more = ("--guidelines", "rules.md", "--scale-file", "scale.csv", "--relevant", "1", *PRICES)
    status, out, err = assay(*ASK, "--base-url", server.url, *more)
    assert (status, out) == (0, ""), err
    assert err.startswith("3 pairs judged: 3 graded\n  3 questions asked: ")
    assert all("A tent for two is at most 2." in prompt and "0 = Poor: no help" in prompt for prompt in server.prompts)
    label, call = lines()[0], lines("machine.ledger.jsonl")[0]
    assert {key: label[key] for key in ("grade", "relevant", "outcome", "judge", "model", "rationale")} == {
        "grade": 2,
        "relevant": True,
        "outcome": "graded",
        "judge": "graded",
        "model": "a-model",
        "rationale": "fits",
    }
    assert label["parameters"]["model"] == "a-model"
    assert label["parameters"]["scale"] == [[0, "Poor", "no help"], [1, "Fair", ""], [2, "Good", ""]]
    assert (label["prompt_sha256"], label["raw"]) == (call["prompt_sha256"], call["raw"])
    assert label["cost_usd"] == pytest.approx((2 * call["tokens_in"] + 8 * call["tokens_out"]) / 1e6)
    assert {"key", "temperature", "seed", "seconds", "outcome", "at", "answered_by"} <= call.keys()
    written = Path("machine.jsonl").read_text() + Path("machine.ledger.jsonl").read_text() + err
    assert "sk-very-secret" not in written
    assert any("sk-very-secret" in value for _, headers, _ in server.requests for value in headers.values())
    assert assay("validate", "machine.jsonl", "--format", "labels-jsonl", "--scale", "0:2", "--strict")[0] == 0


def test_an_answer_in_the_ledger_is_reused(assay: Call, server: ModelServer) -> None:
    write_pairs(4)
    command = (*ASK, "--base-url", server.url, *PRICES)
    assay(*command)
    before = lines()
    _, _, err = assay(*command)
    assert "0 questions asked: 0 tokens read, 0 written, 0.0000 USD\n  answers from the ledger: 4" in err
    assert sorted(map(str, lines())) == sorted(map(str, before))
    # Another model, other words and another parameter are other questions; the files of one judge stay apart.
    shared = ("--ledger", "machine.ledger.jsonl")
    assay(*command, *shared, "--out", "b.jsonl", "--model", "another")
    assay(*command, *shared, "--out", "c.jsonl", "--temperature", "0.5")
    assert len(server.requests) == 12
    status, _, err = assay(*command, "--resume", "--temperature", "0.5")
    assert (status, len(server.requests)) == (2, 12)
    assert "machine.jsonl:1: this label is from graded" in err


def test_two_documents_with_the_same_text_need_one_call(assay: Call, server: ModelServer) -> None:
    of = {"query_id": "q1", "query": "tent", "text": "A tent."}
    Path("pairs.jsonl").write_text("".join(json.dumps({**of, "doc_id": doc_id}) + "\n" for doc_id in "abc"))
    assay(*ASK, "--base-url", server.url, *PRICES)
    assert len(server.requests) == 1
    assert [label["grade"] for label in lines()] == [2, 2, 2]
    assert sum(label["cost_usd"] for label in lines()) == pytest.approx(lines("machine.ledger.jsonl")[0]["cost_usd"])


def test_an_unreadable_answer_is_retried_once_and_then_reported(assay: Call, server: ModelServer) -> None:
    write_pairs(4)

    def answer(prompt: str, number: int) -> Answer:
        again = "could not be read" in prompt
        if "number 0 " in prompt:
            return Answer(graded(1) if again else "It relates to 1 aspect.")
        if "number 1 " in prompt:
            return Answer("no idea" if again else "")
        if "number 2 " in prompt:
            wide = server.requests[number - 1][2]["max_tokens"] > 400
            return Answer(graded(3)) if wide else Answer('{"reason": "a lo', stop="length")
        return Answer(graded(7))

    server.answer = answer
    status, _, err = assay(*ASK, "--base-url", server.url)
    assert (status, err.splitlines()[0]) == (0, "4 pairs judged: 2 graded, 1 out_of_scale, 1 unparseable")
    assert {label["doc_id"]: (label["outcome"], label["grade"]) for label in lines()} == {
        "d000": ("graded", 1),
        "d001": ("unparseable", None),
        "d002": ("graded", 3),
        "d003": ("out_of_scale", None),
    }
    calls = Counter(call["outcome"] for call in lines("machine.ledger.jsonl"))
    assert calls == {"graded": 2, "unparseable": 3, "truncated": 1, "out_of_scale": 1}
    # The label has what both calls took.
    twice = next(label for label in lines() if label["doc_id"] == "d000")
    one = [call["tokens_in"] for call in lines("machine.ledger.jsonl") if call["outcome"] == "graded"]
    assert twice["tokens_in"] > max(one)
    server.requests.clear()
    assay(*ASK, "--base-url", server.url)
    assert server.requests == []


@pytest.mark.slow
def test_after_a_kill_no_answered_question_is_repeated(assay: Call, server: ModelServer) -> None:
    number, killed_after, at_once = 60, 25, 4
    write_pairs(number)
    reached, gone = threading.Event(), threading.Event()

    def answer(prompt: str, count: int) -> Answer:
        if count >= killed_after:
            reached.set()
        # However late it is killed, it does not come to the end before.
        if count > 2 * killed_after - at_once:
            gone.wait(600)
        return Answer(graded(1), wait=0.02)

    server.answer = answer
    words = [*ASK, "--base-url", server.url, "--concurrency", str(at_once), "--resume"]
    code = "from assay.cli import run_process; run_process()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    )
    begun = reached.wait(600)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert begun, "the process asked too little"
    gone.set()
    server.rest()
    keys = {call["key"] for call in whole_lines("machine.ledger.jsonl")}
    assert 0 < len(keys) < number
    before = list(server.prompts)
    status, _, err = assay(*words)
    assert status == 0, err
    repeated = [prompt for prompt, times in Counter(server.prompts).items() if times > 1]
    # At most what was in flight: sent, and not written down yet.
    assert len(repeated) <= at_once
    assert len(server.prompts) - len(before) == number - len(keys)
    assert sorted(label["doc_id"] for label in lines()) == [f"d{n:03}" for n in range(number)]


def whole_lines(path: str) -> list[dict[str, Any]]:
    text = Path(path).read_text()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def test_missing_answers_are_retried_and_other_failures_are_not(assay: Call, server: ModelServer) -> None:
    write_pairs(3)
    server.answer = lambda prompt, number: (
        Answer("no", status=400) if "number 0 " in prompt else Answer("I will not.", stop="refused")
    )
    assay(*ASK, "--base-url", server.url, "--resume")
    assert Counter(label["outcome"] for label in lines()) == {"transport_error": 1, "refused": 2}
    server.requests.clear()
    server.answer = lambda prompt, number: Answer(graded(3))
    status, _, err = assay(*ASK, "--base-url", server.url, "--resume")
    assert (status, len(server.requests)) == (0, 1)
    assert "2 pairs skipped, already judged" in err
    assert Counter(label["outcome"] for label in lines()) == {"graded": 1, "refused": 2}
    assert assay("validate", "machine.jsonl", "--format", "labels-jsonl")[0] == 0


def test_a_wrong_key_is_one_line_and_stops_the_run(assay: Call, server: ModelServer) -> None:
    write_pairs(200)
    server.answer = lambda prompt, number: Answer("no such key: sk-very-secret", status=401)
    status, out, err = assay(*ASK, "--base-url", server.url, "--concurrency", "4")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "status 401" in err
    assert "sk-very-secret" not in err
    assert len(server.requests) <= 4


def test_a_budget_is_never_overdrawn_and_holds_over_runs(assay: Call, server: ModelServer) -> None:
    write_pairs(50)
    ask = (*ASK, "--base-url", server.url, "--most-tokens", "20", *PRICES, "--resume")
    dry = assay(*ask, "--dry-run")[1]
    low, high = (float(part) for part in dry.splitlines()[-1].removeprefix("cost: ").removesuffix(" USD").split(" to "))
    assert "questions to ask: 50" in dry
    assert server.requests == []
    assert not Path("machine.jsonl").exists()
    part = high / 4
    for _ in range(2):
        status, _, err = assay(*ask, "--budget-usd", str(part))
        spent = sum(call["cost_usd"] for call in lines("machine.ledger.jsonl"))
        assert (status, spent <= part) == (1, True)
        assert "the limit is reached" in err
    calls = len(server.requests)
    assert 0 < calls < 50
    status, _, _ = assay(*ask, "--max-calls", str(calls + 5))
    assert (status, len(server.requests)) == (1, calls + 5)
    assert assay(*ask)[0] == 0
    assert len(server.requests) == len(lines()) == 50
    assert 0 < low < high
    assert 0 < sum(call["cost_usd"] for call in lines("machine.ledger.jsonl")) <= high


def test_written_addresses_contain_no_secret(assay: Call, server: ModelServer) -> None:
    write_pairs(2)
    status, _, err = assay(*ASK, "--base-url", f"{server.url}?api-version=1&key=sk-secret")
    assert (status, server.requests, "sk-secret" in err) == (2, [], False)
    assert "api-version" in err
    assert assay(*ASK, "--base-url", f"{server.url}/d?api-version=1")[0] == 0
    assert server.requests[0][0] == "/d/chat/completions?api-version=1"
    assert {call["base_url"] for call in lines("machine.ledger.jsonl")} == {f"{server.url}/d?api-version=1"}


def test_a_model_that_changes_its_name_is_reported(assay: Call, server: ModelServer) -> None:
    write_pairs(10)
    server.answer = lambda prompt, number: Answer(graded(1), model="a-model-1" if number <= 4 else "a-model-2")
    err = assay(*ASK, "--base-url", server.url, "--concurrency", "1")[2]
    assert "note: 2 models answered: a-model-1 (4), a-model-2 (6)" in err
    assert Counter(label["model"] for label in lines()) == {"a-model-1": 4, "a-model-2": 6}


def test_canaries_tell_how_often_a_document_talks_the_judge_round(assay: Call, server: ModelServer) -> None:
    write_pairs(5)
    asking = ("Ignore the instructions", "verified")
    server.answer = lambda prompt, number: Answer(graded(3 if any(one in prompt for one in asking) else 0))
    status, _, err = assay(*ASK, "--base-url", server.url, "--canaries", "3", "--seed", "5")
    assert status == 0
    assert "canaries: grades raised: 3 of 3 by instruction, 0 of 3 by query-words" in err
    assert (len(lines()), len(lines("machine.ledger.jsonl"))) == (5, 11)
    server.requests.clear()
    assert err.splitlines()[-1] in assay(*ASK, "--base-url", server.url, "--canaries", "3", "--seed", "5")[2]
    assert server.requests == []


def test_examples_are_never_the_pairs_under_judgment(assay: Call, server: ModelServer) -> None:
    write_pairs(2)
    shots = [{"query_id": "q9", "query": "stove", "doc_id": f"s{n}", "text": f"Stove {n}."} for n in range(4)]
    Path("shots.jsonl").write_text("".join(json.dumps(row) + "\n" for row in shots))
    Path("shots.txt").write_text("q9 0 s0 0\nq9 0 s1 0\nq9 0 s2 3\nq1 0 d000 3\n")
    more = ("--examples", "shots.txt", "--examples-pairs", "shots.jsonl", "--examples-most", "2")
    status, _, err = assay(*ASK, "--base-url", server.url, *more)
    assert status == 0, err
    assert all(prompt.count("An example that people graded") == 2 for prompt in server.prompts)
    assert all("people graded 3. Searched for: stove" in prompt for prompt in server.prompts)
    assert [pair[2] for pair in lines()[0]["parameters"]["examples"]] == [0, 3]
    Path("shots.jsonl").write_text(Path("pairs.jsonl").read_text())
    status, _, err = assay(*ASK, "--base-url", server.url, *more)
    assert (status, err.count("\n")) == (2, 1)
    assert "shots.jsonl:1: q1 d000 is among the pairs to judge" in err


@pytest.mark.parametrize(("judge", "provider", "text", "grade"), [
    ("binary", "anthropic", graded(1), 1),
    ("expected_answer", "gemini", "YES, it says so.", 1),
    ("expected_answer", "openai", "**NO**", 0),
])  # fmt: skip
def test_other_judges_and_providers(
    assay: Call, server: ModelServer, monkeypatch: pytest.MonkeyPatch, judge: str, provider: str, text: str, grade: int
) -> None:
    write_pairs(2)
    monkeypatch.setenv("MY_KEY", "another-secret")
    server.answer = lambda prompt, number: Answer(text)
    words = ("judge", "pairs.jsonl", "--judge", judge, "--provider", provider, "--model", "m", "--out", "machine.jsonl")
    status, _, err = assay(*words, "--base-url", server.url, "--key-variable", "MY_KEY")
    assert status == 0, err
    assert [(label["grade"], label["relevant"]) for label in lines()] == [(grade, bool(grade))] * 2
    assert any("another-secret" in value for value in server.requests[0][1].values())


def test_usefulness_is_the_score_of_the_systems_own_answer(assay: Call, server: ModelServer) -> None:
    write_pairs(2, expected="two persons")
    server.answer = lambda prompt, number: Answer("Two persons" if "number 0 " in prompt else "two people", wait=0)
    words = ("judge", "pairs.jsonl", "--judge", "downstream", "--model", "m", "--base-url", server.url)
    assert assay(*words, "--out", "machine.jsonl")[0] == 0
    labels = {label["doc_id"]: (label["usefulness"], label["grade"], label["relevant"]) for label in lines()}
    assert labels == {"d000": (1.0, None, None), "d001": (0.5, None, None)}
    assert not any("persons" in prompt for prompt in server.prompts)
    assay(*words, "--out", "exact.jsonl", "--ledger", "machine.ledger.jsonl", "--text-metric", "exact_match")
    assert sorted(label["usefulness"] for label in lines("exact.jsonl")) == [0, 1]
    assert len(server.requests) == 2
    assert assay("validate", "machine.jsonl", "--format", "labels-jsonl", "--strict")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--judge", "graded"), "name one with --model"),
        (("--judge", "graded", "--model", "m"), "OPENAI_API_KEY has no key"),
        (("--judge", "graded", "--model", "m", "--key-variable", "NOWHERE"), "NOWHERE has no key"),
        (("--judge", "graded", "--model", "m", "--provider", "other"), "unknown provider 'other'"),
        (("--judge", "graded", "--model", "m", "--base-url", "localhost"), "--base-url is 'localhost'"),
        (("--judge", "graded", "--model", "m", "--base-url", "http://x", "--budget-usd", "1"), "needs --price-in"),
        (("--judge", "graded", "--model", "m", "--base-url", "http://x", "--min-tokens", "1"), "--min-tokens"),
        (("--judge", "binary", "--model", "m", "--base-url", "http://x", "--scale", "0:3"), "two grades"),
        (("--judge", "graded", "--model", "m", "--base-url", "http://x", "--relevant", "9"), "--relevant is 9"),
        (
            ("--judge", "graded", "--model", "m", "--base-url", "http://x", "--examples", "qrels.txt"),
            "--examples-pairs",
        ),
        (("--judge", "graded", "--model", "m", "--base-url", "http://x", "--scale-file", "qrels.txt"), "qrels.txt"),
        (("--judge", "graded", "--model", "m", "--base-url", "http://x", "--guidelines", "none.md"), "none.md"),
        (("--judge", "graded", "--model", "m", "--base-url", "http://x", "--ledger", "qrels.txt"), "qrels.txt:1"),
        (("--judge", "graded", "--model", "m", "--base-url", "http://x", "--concurrency", "0"), "concurrency"),
    ],
)
def test_mistakes_end_with_2_and_one_line(
    assay: Call, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    status, out, err = assay("judge", "pairs.jsonl", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_pairs_are_judged_in_portions_without_repeated_calls(
    assay: Call, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts that come again in a later portion are known by then, with and without a file for the ledger."""
    monkeypatch.setattr("assay.cli.judge.model_judging.PORTION", 3)
    monkeypatch.setattr("assay.cli.judge.model_judging.TURNS", 0)
    rows = [{"query_id": "q1", "query": "tent", "doc_id": f"d{n}", "text": f"Text {n % 5}"} for n in range(10)]
    rows.insert(4, {"query_id": "q1", "query": "tent", "doc_id": "empty", "text": ""})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    Path("pairs.jsonl").write_text(text + text.splitlines()[0] + "\n")
    status, _, err = assay(*ASK, "--base-url", server.url)
    assert status == 0, err
    assert sorted(row["doc_id"] for row in lines()) == sorted(f"d{n}" for n in range(10))
    assert len(server.requests) == 5
    assert "10 pairs judged: 10 graded" in err
    assert "1 pair not judged, without text" in err
    estimate = assay(*ASK[:-2], "--base-url", server.url, "--dry-run")[1]
    assert "to judge: 10\n" in estimate
    assert "incomplete pairs: 1\n" in estimate
    # What stands in the output is left alone, in whichever portion it is.
    Path("machine.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in lines() if row["doc_id"] != "d7"))
    status, _, err = assay(*ASK, "--base-url", server.url, "--resume")
    assert "1 pair judged: 1 graded\n  9 pairs skipped, already judged" in err
    assert len(server.requests) == 5


def test_contradicting_pairs_are_refused_before_any_call(assay: Call, server: ModelServer) -> None:
    write_pairs(3)
    with Path("pairs.jsonl").open("a") as stream:
        stream.write('{"query_id": "q1", "query": "tent", "doc_id": "d001", "text": "Another text."}\n')
    status, _, err = assay(*ASK, "--base-url", server.url)
    assert (status, server.requests) == (2, [])
    assert "pairs.jsonl:4: " in err
    assert "line 2" in err


def test_pairs_of_a_pipe_are_read_as_often_as_needed(
    assay: Call, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.cli.inputs.judge_pairs.MOST_HELD", 40)
    write_pairs(5)
    data = Path("pairs.jsonl").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    words = ("judge", "-", *ASK[2:], "--base-url", server.url)
    assert assay(*words)[0] == 0
    assert len(lines()) == 5


def test_two_answers_of_one_model_for_a_pair_stop_a_run_that_goes_on(assay: Call, server: ModelServer) -> None:
    write_pairs(2)
    assay(*ASK, "--base-url", server.url)
    first = lines()[0]
    with Path("machine.jsonl").open("a") as stream:
        stream.write(json.dumps(first | {"grade": 1}) + "\n")
    status, _, err = assay(*ASK, "--base-url", server.url, "--resume")
    assert status == 2
    assert "machine.jsonl:3: " in err
