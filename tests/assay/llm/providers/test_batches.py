"""Tests of batch APIs over HTTP for two providers: resumption after a kill, single payment, failures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.core.errors import NotValid
from assay.llm.model_reply import Reply, read_grade
from assay.llm.providers import PROTOCOLS, Question
from assay.llm.providers.batches import ask_in_batches
from assay.llm.providers.limits import Budget
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import Ended
from tests.assay.llm.providers.batch_server import KEY, Provider, provider


class MemoryStore:
    """A store in memory; ``saved`` is how it stood each time."""

    def __init__(self, batches: dict[str, list[str]] | None = None) -> None:
        self.batches: dict[str, list[str]] = dict(batches or {})
        self.saved: list[dict[str, list[str]]] = []

    def load(self) -> dict[str, list[str]]:
        return dict(self.batches)

    def save(self, batches: Mapping[str, Sequence[str]]) -> None:
        self.batches = {batch: list(keys) for batch, keys in batches.items()}
        self.saved.append(self.batches)


def run_batches(
    server: Provider, store: MemoryStore, protocol: str = "openai", words: Sequence[str] = "abc", **more: Any
) -> tuple[Ended, dict[str, Reply]]:
    endpoint = Endpoint(PROTOCOLS[protocol], "a-model", server.url, KEY, price_in=1.0, price_out=4.0)
    replies: dict[str, Reply] = {}
    questions = [Question(f"key-{word}", "You judge.", f"Document {word}") for word in words]
    ended = ask_in_batches(
        endpoint, questions, lambda one, reply: replies.update({one.key: reply}), store=store, poll=0.01, **more
    )
    return ended, replies


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_a_batch_is_recorded_polled_and_read(protocol: str) -> None:
    store = MemoryStore()
    with provider(looks=3) as server:
        ended, replies = run_batches(server, store, protocol, ["one", "two", "lost"])
    assert (ended.end, ended.answered) == ("done", 3)
    intent, left, fetched = store.saved
    assert list(intent.values()) == list(left.values()) == [["key-one", "key-two", "key-lost"]]
    assert (list(left), fetched) == (["batch-0"], {})
    assert list(intent) != ["batch-0"]
    assert [read_grade(replies[f"key-{word}"], (0, 1, 2)).name for word in ("one", "two", "lost")] == [
        "graded",
        "graded",
        "transport_error",
    ]
    assert "expired" in replies["key-lost"].fault
    reply = replies["key-one"]
    assert reply.cost_usd == pytest.approx(((reply.tokens_in or 0) + 4 * (reply.tokens_out or 0)) / 1e6)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_submitted_batches_are_fetched_and_not_submitted_again(protocol: str) -> None:
    store = MemoryStore()
    with provider(looks=10_000) as server:
        ended, replies = run_batches(server, store, protocol, stop=lambda: True)
        assert (ended.end, replies, list(store.batches)) == ("stopped", {}, ["batch-0"])
        server.looks = 0
        ended, replies = run_batches(server, store, protocol, "abcd")
    assert (ended.end, sorted(replies)) == ("done", ["key-a", "key-b", "key-c", "key-d"])
    assert [len(batch) for batch in server.batches.values()] == [3, 1]
    assert store.batches == {}


def test_wrong_key_is_reported_without_the_key() -> None:
    with provider() as server:
        server.status = 401
        ended, replies = run_batches(server, MemoryStore())
    assert (ended.end, replies) == ("refused", {})
    assert "401" in ended.message
    assert KEY not in ended.message


def test_a_provider_that_asks_for_more_patience_than_there_is_is_left_alone() -> None:
    with provider() as server:
        server.status, server.patience = 429, "7200"
        ended, replies = run_batches(server, MemoryStore())
    assert (ended.end, replies, ended.attempts) == ("down", {}, 1)
    assert "wait 7,200 s" in ended.message


class KilledWhen(MemoryStore):
    """A store whose process is killed where it would write down that a batch has an id."""

    def save(self, batches: Mapping[str, Sequence[str]]) -> None:
        if any(name.startswith("batch-") for name in batches):
            raise KeyboardInterrupt
        super().save(batches)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_batch_without_a_recorded_id_is_located_and_not_submitted_again(protocol: str) -> None:
    store = KilledWhen()
    with provider() as server:
        run_batches(server, MemoryStore(), protocol, "xyz")
        with pytest.raises(KeyboardInterrupt):
            run_batches(server, store, protocol, "ab")
        run_batches(server, MemoryStore(), protocol, "pqr")
        ended, replies = run_batches(server, MemoryStore(store.batches), protocol, "ab")
    assert (ended.end, sorted(replies)) == ("done", ["key-a", "key-b"])
    assert not any(reply.fault for reply in replies.values())
    assert [len(batch) for batch in server.batches.values()] == [3, 2, 3]


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_a_batch_that_never_got_there_is_left_anew(protocol: str) -> None:
    store = MemoryStore({"assay-1760000000-0123": ["key-a", "key-b"]})
    with provider() as server:
        ended, replies = run_batches(server, store, protocol, "ab")
    assert (ended.end, sorted(replies), store.batches) == ("done", ["key-a", "key-b"], {})
    assert [len(batch) for batch in server.batches.values()] == [2]


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_a_line_that_breaks_while_a_batch_is_left_leaves_no_second_one(protocol: str) -> None:
    store = MemoryStore()
    with provider() as server:
        server.silent = True
        ended, replies = run_batches(server, store, protocol, "ab")
        assert (ended.end, replies) == ("down", {})
        assert "will look for it" in ended.message
        server.silent = False
        ended, replies = run_batches(server, store, protocol, "ab")
    assert (ended.end, sorted(replies)) == ("done", ["key-a", "key-b"])
    assert len(server.batches) == 1


def test_a_batch_of_other_questions_waits_for_its_run() -> None:
    store = MemoryStore()
    with provider(looks=10_000) as server:
        run_batches(server, store, words="ab", stop=lambda: True)
        server.looks = 0
        ended, replies = run_batches(server, store, words="cd")
        assert (ended.end, sorted(replies), store.batches) == (
            "done",
            ["key-c", "key-d"],
            {"batch-0": ["key-a", "key-b"]},
        )
        ended, replies = run_batches(server, store, words="ab")
    assert (ended.end, sorted(replies), store.batches) == ("done", ["key-a", "key-b"], {})
    assert len(server.batches) == 2


def most_of_one(server: Provider) -> float:
    endpoint = Endpoint(PROTOCOLS["openai"], "a-model", server.url, price_in=1.0, price_out=4.0)
    return endpoint.most_cost(Question("key-a", "You judge.", "Document a")) or 0.0


def test_batches_stay_within_the_budget() -> None:
    with provider() as server:
        budget = Budget(usd=2.1 * most_of_one(server))
        ended, replies = run_batches(server, MemoryStore(), words="abcdefgh", budget=budget)
        # Two at a time, since they cost far less than they could; when each could be the last, one at a time.
        assert list(map(len, server.batches.values()))[:2] == [2, 2]
        assert (ended.end, len(replies)) == ("done", 8)
        assert budget.spent == pytest.approx(sum(reply.cost_usd or 0 for reply in replies.values()))
        tight = Budget(usd=0.9 * most_of_one(server))
        ended, replies = run_batches(server, MemoryStore(), budget=tight)
    assert (ended.end, replies, tight.spent) == ("budget", {}, 0)
    assert "one more question could cost" in ended.message


def test_pending_batches_count_against_the_budget() -> None:
    store = MemoryStore()
    with provider(looks=10_000) as server:
        run_batches(server, store, words="ab", stop=lambda: True)
        ended, _ = run_batches(
            server, store, words="abc", budget=Budget(usd=2.1 * most_of_one(server)), stop=lambda: True
        )
    assert ended.end == "stopped"
    assert list(map(len, server.batches.values())) == [2]


def test_a_text_that_is_moderated_is_blocked() -> None:
    with provider() as server:
        _, replies = run_batches(server, MemoryStore(), words=["one", "flagged"])
    assert [read_grade(replies[f"key-{word}"], (0, 1, 2)).name for word in ("one", "flagged")] == ["graded", "blocked"]


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_lines_that_answer_none_of_the_questions_are_passed_over(protocol: str) -> None:
    fine = {"custom_id": "key-of-somebody", "result": {"type": "expired"}, "error": {"code": "expired"}}
    with provider() as server:
        server.lines = [b"", b"{", b"[1]", b"null", b"\xff", b"[" * 5_000_000, json.dumps(fine).encode()]
        ended, replies = run_batches(server, MemoryStore(), protocol, "ab")
    assert (ended.end, sorted(replies)) == ("done", ["key-a", "key-b"])
    assert not any(reply.fault for reply in replies.values())


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize("says", [b"[]", b"<html>", b"{}", b" " * 5_000_000], ids=["list", "page", "empty", "long"])
def test_a_provider_that_says_odd_things_of_a_batch_keeps_it(protocol: str, says: bytes) -> None:
    store = MemoryStore()
    with provider() as server:
        server.says = says
        ended, replies = run_batches(server, store, protocol, "ab")
        assert (ended.end, replies, list(store.batches)) == ("down", {}, ["batch-0"])
        server.says = None
        ended, replies = run_batches(server, store, protocol, "ab")
    assert (ended.end, sorted(replies), len(server.batches)) == ("done", ["key-a", "key-b"], 1)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_refused_fields_are_left_out_of_the_second_batch(protocol: str) -> None:
    store, budget = MemoryStore(), Budget(usd=1.0)
    with provider() as server:
        server.refuses = "temperature"
        ended, replies = run_batches(server, store, protocol, "abc", budget=budget)
    assert (ended.end, sorted(replies), store.batches) == ("done", ["key-a", "key-b", "key-c"], {})
    assert not any(reply.fault for reply in replies.values())
    assert all("temperature" in reply.left_out for reply in replies.values())
    assert [len(batch) for batch in server.batches.values()] == [3, 3]
    assert (budget.calls_made, budget.spent) == (
        3,
        pytest.approx(sum(reply.cost_usd or 0 for reply in replies.values())),
    )


def test_a_batch_that_fails_as_a_whole_says_why_and_costs_nothing() -> None:
    store, budget = MemoryStore(), Budget(usd=1.0)
    with provider() as server:
        server.fails = {"data": [{"code": "billing_hard_limit_reached", "message": "Your account is empty"}]}
        ended, replies = run_batches(server, store, words="ab", budget=budget)
        assert (ended.end, replies, budget.spent, budget.calls_made) == ("refused", {}, 0.0, 0)
        assert "billing_hard_limit_reached" in ended.message
        # Nobody looks for it again.
        assert store.batches == {}
        server.fails = None
        ended, replies = run_batches(server, store, words="ab")
    assert (ended.end, len(replies), len(server.batches)) == ("done", 2, 2)


def test_empty_account_ends_the_run_after_one_batch() -> None:
    with provider() as server:
        server.status, server.error = 429, {"code": "insufficient_quota", "message": "You exceeded your quota"}
        ended, _ = run_batches(server, MemoryStore())
    assert (ended.end, ended.attempts) == ("refused", 1)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_an_unreadable_answer_is_booked_at_the_highest_cost(protocol: str) -> None:
    budget = Budget(usd=1.0)
    with provider() as server:
        server.lines, server.only_lines = [b'{"custom_id": "key-a"'], True
        _, replies = run_batches(server, MemoryStore(), protocol, "a", budget=budget)
        most = most_of_one(server)
    reply = replies["key-a"]
    assert (bool(reply.fault), reply.estimated, reply.tokens_in) == (True, True, None)
    assert budget.spent == reply.cost_usd >= 0.9 * most


def test_providers_without_batches_are_refused() -> None:
    with provider() as server, pytest.raises(NotValid, match="does not support batches"):
        run_batches(server, MemoryStore(), "gemini")


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
        assert "5 pairs judged: 5 graded" in capsys.readouterr().err
        assert main([*words, "--out", "labels.jsonl", "--poll", "0.01"]) == 0
        assert main(words) == 2
    assert list(server.batches) == ["batch-0"]
    assert len(Path("labels.jsonl").read_text().splitlines()) == 5
    assert sorted(path.name for path in Path().iterdir()) == ["labels.jsonl", "labels.ledger.jsonl", "pairs.jsonl"]
