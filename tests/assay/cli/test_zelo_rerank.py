"""Tests of ``assay zelo rerank``: functions, objects and addresses, and resuming."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from assay.llm.providers import question_run
from assay.llm.rerankers import Candidates, score_all
from tests.assay.conftest import Call

WORTH = (3, 0, 4, 1, 2)
BEST = ["d2", "d0", "d4", "d3", "d1"]
SCORERS = """
import asyncio

def by_worth(query, documents):
    with open("asked.txt", "a") as out:
        out.write(query + "\\n")
    return [float(text.split("worth ")[1][0]) for text in documents]

async def later(query, documents):
    await asyncio.sleep(0)
    return by_worth(query, documents)

class Zbench:
    async def score(self, input):
        return await later(input.query, input.documents)

class Plain:
    def __init__(self, factor=1):
        self.factor = factor
    def score(self, query, documents, top_k=10):
        return [self.factor * score for score in by_worth(query, documents)]

class Wants:
    def __init__(self, model):
        pass

made = Plain(2)
number = 3

def breaks(query, documents):
    if query == "query 1":
        raise OSError("no line")
    return by_worth(query, documents)

def odd(query, documents):
    return {"query 0": [1.0], "query 1": [float("nan")] * 5}.get(query) or by_worth(query, documents)
"""


@pytest.fixture
def ready(assay: Call, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> tuple[Call, str]:
    """Four queries with five documents each, and a module of scorers under a name that no other test imported."""
    rows = [
        {
            "query": {"id": f"q{query}", "query": f"query {query}"},
            "documents": [{"id": f"d{at}", "content": f"A tent worth {worth}."} for at, worth in enumerate(WORTH)],
        }
        for query in range(4)
    ]
    Path("set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    module = re.sub(r"\W", "_", f"scorers_{request.node.name}")
    Path(f"{module}.py").write_text(SCORERS)
    monkeypatch.setattr(question_run, "FIRST_WAIT", 0.001)
    return assay, module


def order(run: str, query: str = "q0") -> list[str]:
    return [line.split()[2] for line in run.splitlines() if line.startswith(f"{query} ")]


@pytest.mark.parametrize("name", ["by_worth", "later", "Zbench", "Plain", "made"])
def test_whatever_scores_becomes_the_same_run(ready: tuple[Call, str], name: str) -> None:
    assay, module = ready
    status, out, err = assay("zelo", "rerank", "set.jsonl", "--scorer", f"{module}:{name}", "--name", "rr")
    assert (status, err) == (0, "20 documents of 4 queries scored\n")
    assert [order(out, f"q{query}") for query in range(4)] == [BEST] * 4
    assert {line.split()[5] for line in out.splitlines()} == {"rr"}
    assert sorted(Path("asked.txt").read_text().splitlines()) == [f"query {at}" for at in range(4)]


def test_the_run_is_one_like_every_other(ready: tuple[Call, str]) -> None:
    assay, module = ready
    ask = ("zelo", "rerank", "set.jsonl", "--scorer", f"{module}:by_worth", "--out", "rr.run", "--concurrency", "3")
    assert assay(*ask, "--most", "3")[0] == 0
    assert order(Path("rr.run").read_text()) == ["d2", "d0", "d1"]
    Path("labels.txt").write_text("".join(f"q{query} 0 d2 1\n" for query in range(4)))
    status, out, _ = assay("evaluate", "labels.txt", "rr.run", "-m", "RR")
    assert (status, "1.0000" in out) == (0, True)
    assert not Path("rr.run.scored.jsonl").exists()


def test_a_query_that_fails_takes_nothing_from_the_others(ready: tuple[Call, str]) -> None:
    assay, module = ready
    ask = ("zelo", "rerank", "set.jsonl", "--scorer", f"{module}:breaks", "--out", "rr.run")
    status, _, err = assay(*ask)
    assert (status, len(order(Path("rr.run").read_text(), "q3"))) == (1, 5)
    assert "q1: OSError: no line" in err
    assert "--resume" in err
    assert order(Path("rr.run").read_text(), "q1") == []
    # Nobody loses them by giving the command again.
    assert "an interrupted run" in assay(*ask)[2]
    Path("asked.txt").unlink()
    assert assay(*ask, "--resume")[0] == 1
    assert not Path("asked.txt").exists()
    other = (*ask[:4], f"{module}:by_worth", *ask[5:])
    assert "another reranker" in assay(*other, "--resume")[2]
    # A killed run leaves half a line.
    with Path("rr.run.scored.jsonl").open("a") as left:
        left.write('{"query_id": "q1", "key"')
    assert assay(*ask, "--resume")[0] == 1
    assert assay("validate", "rr.run", "--format", "trec-run")[0] == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("number", "int is neither a function"),
        ("Wants", "cannot be constructed without arguments"),
        ("nothing", "nothing"),
        ("by_worth", "concurrency is 0"),
    ],
)
def test_invalid_rerankers_are_refused(ready: tuple[Call, str], name: str, message: str) -> None:
    assay, module = ready
    more = ("--concurrency", "0") if name == "by_worth" else ()
    status, _, err = assay("zelo", "rerank", "set.jsonl", "--scorer", f"{module}:{name}", *more)
    assert (status, message in err, err.count("\n")) == (2, True, 1)


def test_invalid_answers_are_reported_for_each_query(ready: tuple[Call, str]) -> None:
    assay, module = ready
    status, out, err = assay("zelo", "rerank", "set.jsonl", "--scorer", f"{module}:odd")
    assert (status, order(out, "q0"), order(out, "q2")) == (1, [], BEST)
    assert err.count("a finite score for each of the 5 documents") == 2
    Path("set.jsonl").write_text('{"query": {"id": "q 0", "query": "t"}, "documents": [{"id": "d", "content": "t"}]}\n')
    status, _, err = assay("zelo", "rerank", "set.jsonl", "--scorer", f"{module}:by_worth")
    assert (status, "q 0" in err) == (2, True)


def rows_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    worth = [float(text.split("worth ")[1][0]) for text in body["documents"]]
    return sorted(
        ({"index": at, "relevance_score": one} for at, one in enumerate(worth)), key=lambda row: -row["relevance_score"]
    )


Reply = tuple[int, dict[str, str], Any]


class Reranker:
    def __init__(self, answer: Callable[[dict[str, Any], int], Reply]) -> None:
        self.answer, self.url = answer, ""
        self.requests: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()


@contextmanager
def serving(answer: Callable[[dict[str, Any], int], Reply]) -> Iterator[Reranker]:
    """An address that reranks as the answer says."""
    server = Reranker(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # as in tests/model_server.py

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with server.lock:
                server.requests.append(body)
                server.keys.add(self.headers.get("Authorization"))
                number = len(server.requests)
                server.at_once += 1
                server.most_at_once = max(server.most_at_once, server.at_once)
            status, headers, body_out = server.answer(body, number)
            with server.lock:
                server.at_once -= 1
            content = json.dumps(body_out).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        server.url = f"http://127.0.0.1:{listening.server_address[1]}/v1/models/rerank"
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


@pytest.mark.parametrize("name", ["results", "data"])
def test_requests_to_an_address_run_concurrently(
    ready: tuple[Call, str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    two = threading.Event()

    def answer(body: dict[str, Any], number: int) -> Reply:
        if server.most_at_once > 1:
            two.set()
        two.wait(30)
        return 200, {}, {name: rows_of(body)}

    monkeypatch.setenv("RERANK_KEY", "sk-secret")
    with serving(answer) as server:
        ask = ("zelo", "rerank", "set.jsonl", "--url", server.url, "--model", "zerank", "--key-variable", "RERANK_KEY")
        status, out, err = ready[0](*ask, "--concurrency", "4", "--name", "zerank")
    assert (status, [order(out, f"q{query}") for query in range(4)]) == (0, [BEST] * 4), err
    assert (server.most_at_once > 1, len(server.requests), server.keys) == (True, 4, {"Bearer sk-secret"})
    assert server.requests[0].keys() == {"model", "query", "documents"}
    assert server.requests[0]["model"] == "zerank"


def test_a_busy_address_is_retried_after_its_delay(ready: tuple[Call, str]) -> None:
    def answer(body: dict[str, Any], number: int) -> Reply:
        if number <= 2:
            return (429, {"Retry-After": "0.3"}, {"error": "slow down"}) if number == 1 else (503, {}, {})
        return 200, {}, {"results": rows_of(body)}

    began = time.monotonic()
    with serving(answer) as server:
        status, out, err = ready[0]("zelo", "rerank", "set.jsonl", "--url", server.url, "--concurrency", "1")
    assert (status, len(server.requests), order(out)) == (0, 6, BEST), err
    assert time.monotonic() - began > 0.3


def test_a_failed_request_loses_nothing_and_is_retried_alone(ready: tuple[Call, str]) -> None:
    assay = ready[0]
    down = [True]

    def answer(body: dict[str, Any], number: int) -> Reply:
        if body["query"] == "query 1" and down[0]:
            return 500, {}, {"error": {"message": "worker died"}}
        if body["query"] == "query 2" and down[0]:
            return 200, {}, {"results": rows_of(body)[:4]}
        return 200, {}, {"results": rows_of(body)}

    with serving(answer) as server:
        ask = ("zelo", "rerank", "set.jsonl", "--url", server.url, "--out", "rr.run")
        status, _, err = assay(*ask)
        assert status == 1
        assert "q1: no answer after 5 attempts; last error: status 500: worker died" in err
        assert "q2: the reranker did not return a finite score" in err
        assert order(Path("rr.run").read_text(), "q3") == BEST
        down[0], server.requests[:] = False, []
        assert assay(*ask, "--resume")[0] == 0
        assert sorted(body["query"] for body in server.requests) == ["query 1", "query 2"]
    assert [order(Path("rr.run").read_text(), f"q{query}") for query in range(4)] == [BEST] * 4
    assert not Path("rr.run.scored.jsonl").exists()


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ((401, {}, {"error": "bad key sk-secret"}), "Check the key, model and address"),
        ((200, {}, {"results": [{"index": "0", "relevance_score": 1}]}), "not a response from a reranker"),
        ((200, {}, [1, 2]), "not a response from a reranker"),
    ],
)
def test_an_address_that_does_not_rerank_is_one_line(
    ready: tuple[Call, str], monkeypatch: pytest.MonkeyPatch, reply: Reply, expected: str
) -> None:
    monkeypatch.setenv("RERANK_KEY", "sk-secret")
    with serving(lambda body, number: reply) as server:
        ask = ("zelo", "rerank", "set.jsonl", "--url", server.url, "--key-variable", "RERANK_KEY")
        status, out, err = ready[0](*ask, "--out", "rr.run")
    assert (status, out, err.count("\n"), expected in err, "sk-secret" in err) == (2, "", 1, True, False)
    assert not list(Path().glob("rr.run*"))
    # Nobody is there any more.
    status, _, err = ready[0](*ask)
    assert (status, "no answer after 5 attempts" in err) == (2, True)
    assert "--url is 'localhost'" in ready[0]("zelo", "rerank", "set.jsonl", "--url", "localhost")[2]


def test_an_asynchronous_reranker_runs_inside_a_loop_too() -> None:
    async def score(query: str, texts: Any) -> list[float]:
        await asyncio.sleep(0)
        return [float(len(text)) for text in texts]

    heard: list[Any] = []

    async def notebook() -> None:
        score_all(score, [Candidates("q", "tent", ("a", "b"), ("x", "xxx"))], lambda *result: heard.append(result))

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, notebook()).result()
    assert [scores for _, scores, _ in heard] == [[1.0, 3.0]]
