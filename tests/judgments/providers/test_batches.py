"""Are batches found again after a kill, paid for once, and their failures told? As two providers speak HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from judgments.core.errors import NotValid
from judgments.judges.answers import Reply, read_grade
from judgments.providers import PROTOCOLS, Question
from judgments.providers.batches import ask_in_batches
from judgments.providers.calls import Ended
from judgments.providers.limits import Budget
from judgments.providers.protocol import Endpoint
from tests.model_server import Answer, _told

KEY = "sk-very-secret"


class Kept:
    """A store in memory; ``saved`` is how it stood each time."""

    def __init__(self, batches: dict[str, list[str]] | None = None) -> None:
        self.batches: dict[str, list[str]] = dict(batches or {})
        self.saved: list[dict[str, list[str]]] = []

    def load(self) -> dict[str, list[str]]:
        return dict(self.batches)

    def save(self, batches: Mapping[str, Sequence[str]]) -> None:
        self.batches = {batch: list(keys) for batch, keys in batches.items()}
        self.saved.append(self.batches)


class Provider:
    """What was sent, how often it was looked at, and after how many looks it is done."""

    def __init__(self, looks: int) -> None:
        self.looks, self.seen = looks, 0
        self.batches: dict[str, list[dict[str, Any]]] = {}
        self.files: dict[str, list[dict[str, Any]]] = {}
        self.status = 200
        self.url = ""


@contextmanager
def provider(looks: int = 2) -> Iterator[Provider]:
    server = Provider(looks)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if server.status != 200:
                self._say({"error": {"message": f"no such key {KEY}"}}, server.status)
            elif self.path.endswith("/files"):
                head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
                parts = [part.get_payload(decode=True) for part in message_from_bytes(head + body).get_payload()]  # type: ignore[union-attr]
                name = f"file-{len(server.files)}"
                server.files[name] = [json.loads(line) for line in parts[-1].split(b"\n") if line]
                assert parts[0] == b"batch"
                self._say({"id": name})
            else:
                told = json.loads(body)
                name = f"batch-{len(server.batches)}"
                server.batches[name] = told.get("requests") or server.files[told["input_file_id"]]
                self._say({"id": name})

        def do_GET(self) -> None:
            name = next((part for part in self.path.split("/") if part.startswith("batch-")), "")
            if self.path.endswith(("/results", "/content")):
                name = name or self.path.split("/")[-2].removeprefix("out-")
                self._lines([self._answer(one) for one in server.batches[name]])
                return
            server.seen += 1
            done = server.seen >= server.looks
            if "/messages/" in self.path:
                self._say({"processing_status": "ended" if done else "in_progress"})
            else:
                self._say({"status": "completed" if done else "in_progress", "output_file_id": f"out-{name}"})

        def _answer(self, one: dict[str, Any]) -> dict[str, Any]:
            body = one.get("body") or one["params"]
            prompt, anthropic = body["messages"][-1]["content"], "params" in one
            told = _told("/messages" if anthropic else "/chat/completions", Answer(), body)
            if prompt.endswith("lost"):
                failed = (
                    {"result": {"type": "expired"}} if anthropic else {"response": None, "error": {"code": "expired"}}
                )
                return {"custom_id": one["custom_id"], **failed}
            fine = {"result": {"type": "succeeded", "message": told}} if anthropic else {}
            return {"custom_id": one["custom_id"], **(fine or {"response": {"status_code": 200, "body": told}})}

        def _lines(self, rows: list[dict[str, Any]]) -> None:
            self._send("".join(json.dumps(row) + "\n" for row in reversed(rows)).encode(), 200)

        def _say(self, told: dict[str, Any], status: int = 200) -> None:
            self._send(json.dumps(told).encode(), status)

        def _send(self, content: bytes, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *said: Any) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_address[1]}/v1"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


def asked(
    server: Provider, store: Kept, protocol: str = "openai", words: Sequence[str] = "abc", **more: Any
) -> tuple[Ended, dict[str, Reply]]:
    endpoint = Endpoint(PROTOCOLS[protocol], "a-model", server.url, KEY, price_in=1.0, price_out=4.0)
    replies: dict[str, Reply] = {}
    questions = [Question(f"key-{word}", "You judge.", f"Document {word}") for word in words]
    ended = ask_in_batches(
        endpoint, questions, lambda one, reply: replies.update({one.key: reply}), store=store, poll=0.01, **more
    )
    return ended, replies


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_a_batch_is_written_down_waited_for_and_read(protocol: str) -> None:
    store = Kept()
    with provider(looks=3) as server:
        ended, replies = asked(server, store, protocol, ["one", "two", "lost"])
    assert (ended.end, ended.answered) == ("done", 3)
    assert store.saved == [{"batch-0": ["key-one", "key-two", "key-lost"]}, {}]
    assert [read_grade(replies[f"key-{word}"], (0, 1, 2)).name for word in ("one", "two", "lost")] == [
        "graded",
        "graded",
        "transport_error",
    ]
    assert "expired" in replies["key-lost"].fault
    reply = replies["key-one"]
    assert reply.cost_usd == pytest.approx(((reply.tokens_in or 0) + 4 * (reply.tokens_out or 0)) / 1e6)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_what_was_left_there_before_is_fetched_and_not_sent_again(protocol: str) -> None:
    store = Kept()
    with provider(looks=10_000) as server:
        ended, replies = asked(server, store, protocol, stop=lambda: True)
        assert (ended.end, replies, list(store.batches)) == ("stopped", {}, ["batch-0"])
        server.looks = 0
        ended, replies = asked(server, store, protocol, "abcd")
    assert (ended.end, sorted(replies)) == ("done", ["key-a", "key-b", "key-c", "key-d"])
    assert [len(batch) for batch in server.batches.values()] == [3, 1]
    assert store.batches == {}


def test_a_wrong_key_is_told_without_it() -> None:
    with provider() as server:
        server.status = 401
        ended, replies = asked(server, Kept())
    assert (ended.end, replies) == ("refused", {})
    assert "401" in ended.said
    assert KEY not in ended.said


def test_no_more_is_sent_than_the_budget_allows() -> None:
    budget = Budget(usd=0.0035)
    with provider() as server:
        ended, replies = asked(server, Kept(), budget=budget)
    # One question holds back 400 tokens at 4 dollars a million, and what it reads.
    assert (ended.end, len(replies), sum(map(len, server.batches.values()))) == ("budget", 2, 2)
    assert budget.spent == pytest.approx(sum(reply.cost_usd or 0 for reply in replies.values()))


def test_who_takes_no_batches_says_so() -> None:
    with provider() as server, pytest.raises(NotValid, match="takes no batches"):
        asked(server, Kept(), "gemini")


def test_the_command_leaves_a_batch_and_makes_labels_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    rows = [{"query_id": "q1", "query": "tent", "doc_id": f"d{n}", "text": f"Tent {n}."} for n in range(5)]
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with provider() as server:
        words = ["judge", "pairs.jsonl", "--judge", "graded", "--model", "m", "--base-url", server.url, "--batch"]
        assert main([*words, "--out", "labels.jsonl", "--poll", "0.01"]) == 0
        assert "judged 5: 5 graded" in capsys.readouterr().err
        assert main([*words, "--out", "labels.jsonl", "--poll", "0.01"]) == 0
        assert main(words) == 2
    assert list(server.batches) == ["batch-0"]
    assert len(Path("labels.jsonl").read_text().splitlines()) == 5
    assert sorted(path.name for path in Path().iterdir()) == ["labels.jsonl", "labels.ledger.jsonl", "pairs.jsonl"]
