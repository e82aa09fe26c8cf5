"""Tests that pages hide from a lead what judges and raters answered for pairs the lead may still grade.

Two rounds differ only in grades, failures, reasons, doubts, injection probes and pairwise comparisons of the pairs
that the lead has yet to grade. Any difference between the responses to the lead reveals something.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.db import transaction

from judgments.models import Judge, Round
from judgments.rating import assignment
from tests.machines import judge_everything
from tests.test_access_matrix import LINES, WHO, address
from tests.test_hidden_machine_grades import Ask, Response, send_all
from tests.world import World, grade_together

pytestmark = pytest.mark.django_db
# Of the round's nine pairs; its third query is the lead's no more.
BEFORE_THE_LEAD = ("d1-2", "d2-2", "d2-3")
RUNS = ("forth", "back")
LISTS = ("judges/", "answers/", "ledger/", "routing/", "battles/", "canaries/", "<uuid:run>/")
# The round's coefficient, which is told to every lead at the top of each page; and how long that makes the page.
EVERYBODY = re.compile(rb'Agreement<span class="sr">[^<]*|Content-Length: \d+')


@dataclass(frozen=True)
class Case:
    """What the lead is shown."""

    world: World
    round: Round
    judges: list[Judge]


@pytest.fixture
def mine(world: World, make_round: Any, store_file: Callable[..., Any], lead: Any, rater: Any, rater2: Any) -> Round:
    """A round that the lead rates as well, and has rated but for some pairs."""
    round_ = make_round(name="Mine", queries=3, documents=3, raters=[lead, rater, rater2], ratings_per_pair=3)
    for name in RUNS:
        rows = [
            f"q{query} Q0 d{query}-{place} {rank} {10 - rank} {name}\n"
            for query in (1, 2, 3)
            for rank, place in enumerate((1, 2, 3) if name == "forth" else (3, 2, 1), start=1)
        ]
        store_file("runs", "".join(rows), filename=f"{name}.run")
    held = {pair.document.doc_id: pair.uuid for pair in assignment.claim_batch(round_, rater=lead, size=50)}
    grade_together(round_, lead, {uuid: 2 for doc_id, uuid in held.items() if doc_id not in BEFORE_THE_LEAD})
    return round_


def build_case(world: World, round_: Round, raters: list[Any], *, people: bool, machines: bool) -> Case:
    """The case in which people or machines said one thing of the lead's pairs, or the opposite."""
    pairs = list(round_.pairs.select_related("document").order_by("position"))
    theirs = {pair.pk for pair in pairs if pair.document.doc_id in BEFORE_THE_LEAD}
    for number, rater in enumerate(raters):
        batch = assignment.claim_batch(round_, rater=rater, size=50)
        plain = {pair.uuid: 1 + pair.position % 2 + number for pair in batch}
        grade_together(round_, rater, plain | {pair.uuid: 0 for pair in batch if people and pair.pk in theirs})
    judges = judge_everything(world.collection, [round_], theirs if machines else frozenset())
    # The second is one like the first.
    return Case(world, round_, [judge for judge in judges if not judge.name.endswith("second")])


def of_machines(case: Case) -> Iterator[Ask]:
    """Every address of judges and battles that a lead opens, in each of its forms."""
    for line in _opened("judges/", "battles/"):
        judges = case.judges if "<uuid:judge>" in line.route else case.judges[:1]
        for judge in judges:
            path = address(line.route, replace(case.world, judge=judge))
            yield Ask("GET", path)
            if not line.route.startswith("api/") and line.route.endswith(LISTS):
                yield Ask("GET", f"{path}?format=csv")
    for judge in case.judges:
        page = f"/rounds/{case.world.round.uuid}/judges/{judge.uuid}/"
        forms = ("", "&format=json", "&format=worth.svg", "&format=worth.vl.json")
        yield from (Ask("GET", f"{page}?over=all{form}") for form in forms)
        yield Ask("GET", f"/api/v1{page}people/?over=all")


def of_the_round(case: Case) -> Iterator[Ask]:
    """Every other address of the round, and what the collection tells of its rounds."""
    routes = ("c/<slug:slug>/", "c/<slug:slug>/activity/", "c/<slug:slug>/jobs/", "c/<slug:slug>/snapshots/new/")
    for line in _opened(""):
        if line.route in routes or ("rounds/<uuid:uuid>" in line.route and "judges/" not in line.route):
            yield Ask("GET", address(line.route, case.world))


def _opened(*parts: str) -> list[Any]:
    column = WHO.index("lead")
    lines = [line for line in LINES if line.method == "GET" and line.expected[column] == 200]
    return [line for line in lines if any(part in line.route for part in parts)]


@pytest.fixture
def answers(
    world: World, mine: Round, client_of: Any, lead: Any, rater: Any, rater2: Any
) -> Callable[..., list[Response]]:
    """What the lead is told at some addresses in one of the cases; nothing of the case stays."""
    client = client_of(lead)

    def collect(
        asks: Callable[[Case], Iterator[Ask]], *, people: bool = False, machines: bool = False
    ) -> list[Response]:
        with transaction.atomic():
            case = build_case(world, mine, [rater, rater2], people=people, machines=machines)
            case = replace(case, world=replace(world, round=mine, battles=mine.battle_runs.get()))
            known = {str(judge.uuid).encode(): b"judge-%d" % at for at, judge in enumerate(case.judges)}
            responses = [one for ask in asks(case) for one in send_all(client, ask, known)]
            transaction.set_rollback(True)
        return responses

    return collect


def differing(one: list[Response], other: list[Response]) -> list[Any]:
    def parts(answer: Response) -> list[bytes]:
        return [EVERYBODY.sub(b"", part) for part in answer.parts]

    return [(a.ask, a.status, b.status) for a, b in zip(one, other, strict=True) if parts(a) != parts(b)]


@pytest.mark.slow
def test_judge_pages_hide_answers_to_open_pairs(
    answers: Callable[..., list[Response]],
) -> None:
    plain = answers(of_machines)
    assert {one.status for one in plain} == {200, 403, 404}
    assert differing(plain, answers(of_machines, people=True, machines=True)) == []


@pytest.mark.slow
def test_other_pages_hide_machine_answers_to_open_pairs(answers: Callable[..., list[Response]]) -> None:
    assert differing(answers(of_the_round), answers(of_the_round, machines=True)) == []
