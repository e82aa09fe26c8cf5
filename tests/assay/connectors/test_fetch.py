"""Tests of fetching many queries: patience, early stop and resuming."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from assay.connectors import Allowed, Engine, EngineFault, Hit
from assay.connectors.fetch import Answer, Plan, answer_of, changed_since, fetch, run_scores
from tests.assay.connectors.bad_engine import SECRET, BadEngine

Opened = Callable[..., Engine]
QUICK = Plan(depth=3, concurrency=2, attempts=3, first_wait=0.01, longest_wait=0.05, give_up_after=4)
QUERIES = [(f"q{number}", f"query {number}") for number in range(8)]


@pytest.fixture
def engine_at(opened: Opened, bad_engine: BadEngine, here: Allowed) -> Opened:
    """``engine_at(word)``: an engine that behaves as the word says."""

    def make(word: str, timeout: float = 5.0, secret: str = "") -> Engine:
        return opened("json-http", {"address": bad_engine.at(word), "secret": secret}, here, timeout)

    return make


def collected(engine: Engine, queries: list[tuple[str, str]], plan: Plan) -> tuple[list[Answer], EngineFault | None]:
    answers: list[Answer] = []
    try:
        for answer in fetch(engine, queries, plan):
            answers.append(answer)
    except EngineFault as fault:
        return answers, fault
    return answers, None


def test_every_query_is_requested_once(engine_at: Opened, bad_engine: BadEngine) -> None:
    answers, fault = collected(engine_at("good"), QUERIES, QUICK)
    assert fault is None
    assert sorted(answer.query_id for answer in answers) == [query_id for query_id, _ in QUERIES]
    assert all([hit.doc_id for hit in answer.hits] == ["d1", "d2", "d3"] for answer in answers)
    assert len(bad_engine.requests) == len(QUERIES)
    texts = {answer.query_id: answer.hits[0].text for answer in answers}
    assert texts == {query_id: f"about {query}" for query_id, query in QUERIES}


def test_several_at_a_time(engine_at: Opened, bad_engine: BadEngine) -> None:
    class Counting:
        def __init__(self) -> None:
            self.now, self.most, self.lock = 0, 0, threading.Lock()
            self.met = threading.Event()

        def search(self, query: str, depth: int) -> list[Hit]:
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
                if self.now == 3:
                    self.met.set()
            self.met.wait(60)
            with self.lock:
                self.now -= 1
            return []

        def close(self) -> None: ...

    engine = Counting()
    list(fetch(engine, QUERIES, Plan(concurrency=3)))
    assert engine.most == 3


def test_an_engine_that_recovers_is_requested_again(engine_at: Opened, bad_engine: BadEngine) -> None:
    answer = answer_of(engine_at("recovers"), "q", "jacket", QUICK)
    assert (len(answer.hits), answer.attempts, answer.error) == (3, 3, "")


def test_one_failing_query_does_not_delay_others(engine_at: Opened, bad_engine: BadEngine) -> None:
    queries = [("q1", "jacket"), ("q2", "bad"), ("q3", "tent")]
    answers, fault = collected(engine_at("some"), queries, QUICK)
    assert fault is None
    facts = {answer.query_id: answer for answer in answers}
    assert "unknown field [titel]" in facts["q2"].error
    assert facts["q2"].attempts == 1  # the same request would be refused again
    assert [len(facts[name].hits) for name in ("q1", "q3")] == [3, 3]


def test_remaining_queries_can_be_fetched_later(engine_at: Opened, bad_engine: BadEngine) -> None:
    first, _ = collected(engine_at("good"), QUERIES[:3], QUICK)
    done = {answer.query_id for answer in first}
    rest, _ = collected(engine_at("good"), [one for one in QUERIES if one[0] not in done], QUICK)
    assert len(bad_engine.requests) == len(QUERIES)
    assert done | {answer.query_id for answer in rest} == {query_id for query_id, _ in QUERIES}


def test_an_engine_that_never_answers_is_given_up(engine_at: Opened, bad_engine: BadEngine) -> None:
    answers, fault = collected(engine_at("fails"), QUERIES, QUICK)
    assert fault is not None
    assert "4 queries in a row got no answer; last error: http://127.0.0.1" in str(fault)
    assert 4 <= len(answers) < len(QUERIES)
    assert all(answer.attempts == 3 for answer in answers)


def test_a_wrong_secret_stops_at_once(engine_at: Opened, bad_engine: BadEngine) -> None:
    answers, fault = collected(engine_at("locked", secret="wrong" + SECRET), QUERIES, QUICK)
    assert fault is not None
    assert fault.name == "secret"
    assert SECRET not in str(fault)
    assert answers == []
    assert len(bad_engine.requests) <= QUICK.concurrency


def test_a_hanging_engine(engine_at: Opened, bad_engine: BadEngine) -> None:
    plan = Plan(depth=3, concurrency=2, attempts=1, give_up_after=2)
    answers, fault = collected(engine_at("hangs", timeout=0.2), QUERIES, plan)
    assert fault is not None
    assert all("did not respond within 0.2 seconds" in answer.error for answer in answers)


def test_stopping_does_not_wait_for_the_next_attempt(engine_at: Opened, bad_engine: BadEngine) -> None:
    plan = Plan(concurrency=2, attempts=2, first_wait=600, longest_wait=600)

    class Half:
        def search(self, query: str, depth: int) -> list[Hit]:
            if query == "query 0":
                return []
            raise EngineFault("busy", "later")

        def close(self) -> None: ...

    answers = fetch(Half(), QUERIES, plan)
    assert next(answers).query_id == "q0"
    closing = threading.Thread(target=answers.close, daemon=True)  # type: ignore[attr-defined]
    closing.start()
    closing.join(100)
    assert not closing.is_alive(), "it waits for the next attempt, in ten minutes"


def test_fewer_hits_and_repeated_documents(engine_at: Opened, bad_engine: BadEngine) -> None:
    few = answer_of(engine_at("few"), "q", "x", QUICK)
    assert [hit.doc_id for hit in few.hits] == ["d1"]
    deep = Plan(depth=10)
    repeats = answer_of(engine_at("repeats"), "q", "x", deep)
    assert ([hit.doc_id for hit in repeats.hits], repeats.repeated) == (["d1", "d2", "d3"], 2)


def test_an_index_that_changes_meanwhile_is_noticed(engine_at: Opened, bad_engine: BadEngine) -> None:
    moving, still = engine_at("moves"), engine_at("good")
    for engine, expected in ((moving, ["q0", "q1"]), (still, [])):
        answers, _ = collected(engine, QUERIES[:2], QUICK)
        assert changed_since(engine, QUERIES[:2], answers, QUICK) == expected


def test_scores_keep_the_engine_s_order() -> None:
    assert run_scores([]) == []
    assert run_scores([Hit("a"), Hit("b")]) == [2.0, 1.0]
    assert run_scores([Hit("a", 5.0), Hit("b")]) == [2.0, 1.0]
    assert run_scores([Hit("a", 0.5), Hit("b", 0.5)]) == [0.5, 0.5]


@pytest.mark.parametrize("wait", [0.0, 60.0])
def test_an_engine_says_how_long_to_wait_but_not_for_ever(wait: float) -> None:
    waited: list[float | None] = []

    class Halt(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout)
            return False

    class Busy:
        requests = 0

        def search(self, query: str, depth: int) -> list[Hit]:
            self.requests += 1
            if self.requests == 1:
                raise EngineFault("busy", "later", wait)
            return []

        def close(self) -> None: ...

    assert answer_of(Busy(), "q", "x", QUICK, Halt()).attempts == 2
    assert waited == [min(wait, QUICK.longest_wait)]
