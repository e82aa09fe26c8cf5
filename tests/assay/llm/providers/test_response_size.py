"""Tests of response size limits over real HTTP: endless answers are cut off and booked as paid."""

from __future__ import annotations

import pytest

from assay.llm.model_reply import Reply, read_grade
from assay.llm.providers import PROTOCOLS
from assay.llm.providers.limits import Budget, Limits
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import Ended, ask
from assay.llm.providers.response_body import MOST_BYTES
from tests.assay.llm.providers.flood_server import MB, Flood, flooding
from tests.assay.llm.providers.questions import questions

ONE = Limits(concurrency=1, attempts=1, timeout=20)


def ask_flood(flood: Flood, number: int, budget: Budget | None = None) -> tuple[Ended, dict[str, Reply]]:
    endpoint = Endpoint(PROTOCOLS["openai"], "a-model", flood.url, "sk-key", price_in=1.0, price_out=4.0)
    replies: dict[str, Reply] = {}
    ended = ask(
        endpoint,
        questions(number),
        lambda question, reply: replies.update({question.key: reply}),
        limits=ONE,
        budget=budget,
    )
    return ended, replies


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_without_end_is_left_and_booked_as_paid(packed: bool) -> None:
    budget = Budget(usd=1.0)
    with flooding(Flood(packed=packed)) as flood:
        ended, replies = ask_flood(flood, 3, budget)
    assert (ended.end, flood.request_count, sorted(replies)) == ("done", 3, ["k0", "k1", "k2"])
    # What the sockets of both sides hold is more than what was read; a hundred megabytes it is not.
    assert flood.left / 3 < MOST_BYTES + 8 * MB
    for reply in replies.values():
        assert read_grade(reply, (0, 1)).name == "transport_error"
        assert "more than 4,0" in reply.fault
        assert reply.cost_usd is not None
        assert reply.cost_usd > 0
    assert budget.spent == pytest.approx(sum(reply.cost_usd or 0.0 for reply in replies.values()))


def test_endless_answers_stop_the_run() -> None:
    with flooding(Flood()) as flood:
        ended, replies = ask_flood(flood, 50)
    # Each of them was written: all stand in the ledger.
    assert (ended.end, flood.request_count, len(replies)) == ("refused", 5, 5)
    assert "more than 4,0" in ended.message


@pytest.mark.parametrize(("status", "end"), [(401, "refused"), (503, "done"), (400, "done")])
def test_endless_error_is_reported_by_its_status(status: int, end: str) -> None:
    with flooding(Flood(status=status)) as flood:
        ended, replies = ask_flood(flood, 1)
    assert ended.end == end
    assert f"status {status}" in (ended.message or replies["k0"].fault)
    assert flood.left < 8 * MB


def test_wrong_content_encoding_is_one_failure() -> None:
    with flooding(Flood(body=b"{}", headers=(("Content-Encoding", "gzip"),))) as flood:
        ended, replies = ask_flood(flood, 1)
    assert ended.end == "done"
    assert "cannot be decompressed" in replies["k0"].fault


def test_a_charset_of_a_server_takes_nothing_apart() -> None:
    with flooding(Flood(body=b"no json", headers=(("Content-Type", "text/plain; charset=zlib"),))) as flood:
        ended, replies = ask_flood(flood, 1)
    assert ended.end == "done"
    assert "no json" in replies["k0"].fault
