"""Tests of response size limits over real HTTP: endless answers are cut off and booked as paid."""

from __future__ import annotations

import pytest

from judgments.judges.answers import Reply, read_grade
from judgments.providers import PROTOCOLS
from judgments.providers.calls import Ended, ask
from judgments.providers.limits import Budget, Limits
from judgments.providers.protocol import Endpoint
from judgments.providers.reading import MOST_BYTES
from tests.judgments.providers.asked import questions
from tests.judgments.providers.flood_server import MB, Flood, flooding

ONE = Limits(concurrency=1, attempts=1, timeout=20)


def asked(flood: Flood, number: int, budget: Budget | None = None) -> tuple[Ended, dict[str, Reply]]:
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
        ended, replies = asked(flood, 3, budget)
    assert (ended.end, flood.asked, sorted(replies)) == ("done", 3, ["k0", "k1", "k2"])
    # What the sockets of both sides hold is more than what was read; a hundred megabytes it is not.
    assert flood.left / 3 < MOST_BYTES + 8 * MB
    for reply in replies.values():
        assert read_grade(reply, (0, 1)).name == "transport_error"
        assert "more than 4,0" in reply.fault
        assert reply.cost_usd is not None
        assert reply.cost_usd > 0
    assert budget.spent == pytest.approx(sum(reply.cost_usd or 0.0 for reply in replies.values()))


def test_nobody_goes_on_asking_for_answers_without_end() -> None:
    with flooding(Flood()) as flood:
        ended, replies = asked(flood, 50)
    # Each of them was written: all stand in the ledger.
    assert (ended.end, flood.asked, len(replies)) == ("refused", 5, 5)
    assert "more than 4,0" in ended.said


@pytest.mark.parametrize(("status", "end"), [(401, "refused"), (503, "done"), (400, "done")])
def test_an_error_without_end_is_told_by_its_status(status: int, end: str) -> None:
    with flooding(Flood(status=status)) as flood:
        ended, replies = asked(flood, 1)
    assert ended.end == end
    assert f"status {status}" in (ended.said or replies["k0"].fault)
    assert flood.left < 8 * MB


def test_what_is_not_packed_as_it_says_is_one_failure() -> None:
    with flooding(Flood(body=b"{}", headers=(("Content-Encoding", "gzip"),))) as flood:
        ended, replies = asked(flood, 1)
    assert ended.end == "done"
    assert "cannot be unpacked" in replies["k0"].fault


def test_a_charset_of_a_server_takes_nothing_apart() -> None:
    with flooding(Flood(body=b"no json", headers=(("Content-Type", "text/plain; charset=zlib"),))) as flood:
        ended, replies = asked(flood, 1)
    assert ended.end == "done"
    assert "no json" in replies["k0"].fault
