"""Test that a rater can't learn whether their grade is far from another rater's.

An additional rating is requested where two grades are far apart. Two rounds differ only in what the other rater gave.
Any difference between the responses would let the rater try grades until theirs equals the other rater's.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction

from judgments.models import Round
from judgments.progress import progress
from judgments.rating import assignment, submission
from judgments.rounds.settings import RoundSettings
from tests.test_hidden_machine_grades import Ask, Response, send_all

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]


@pytest.fixture(params=[2, 3], ids=["nobody is left for it", "somebody is left for it"])
def round_(request: pytest.FixtureRequest, make_round: Make, rater: Any, rater2: Any, rater3: Any) -> Round:
    raters = [rater, rater2, rater3][: request.param]
    made: Round = make_round(raters=raters, queries=2, documents=5, settings=RoundSettings(extra_at=2))
    return made


def addresses(round_: Round) -> Iterator[Ask]:
    page, program = f"/rounds/{round_.uuid}", f"/api/v1/rounds/{round_.uuid}"
    for path in ("/", f"{page}/rate/", f"{page}/rate/?mode=list", f"{page}/rate/last/", f"{page}/settled/"):
        yield Ask("GET", path)
    for path in ("progress", "judgments", "settled"):
        yield Ask("GET", f"{program}/{path}/")
    yield Ask("POST", f"{program}/batch/")
    yield Ask("POST", f"{page}/rate/next/")


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [9.0, None], ids=["timed", "not timed"])
@pytest.mark.parametrize("answers", [4, 10], ids=["on the way", "done"])
def test_no_number_reveals_extra_ratings_to_a_rater(
    round_: Round, client_of: Make, rater: Any, rater2: Any, answers: int, seconds: float | None
) -> None:
    client = client_of(rater)

    def visible_numbers(others: int) -> tuple[int, list[Response]]:
        with transaction.atomic():
            for pair in assignment.claim_batch(round_, rater=rater2, size=10):
                submission.submit(round_, submission.Answer(uuid.uuid4(), pair.uuid, others), rater=rater2)
            for pair in assignment.claim_batch(round_, rater=rater, size=10)[:answers]:
                mine = submission.Answer(uuid.uuid4(), pair.uuid, 3, seconds_active=seconds)
                submission.submit(round_, mine, rater=rater)
            responses = [one for ask in addresses(round_) for one in send_all(client, ask, {})]
            called_in = progress.progress(Round.objects.get(pk=round_.pk)).called_in
            transaction.set_rollback(True)
        return called_in, responses

    (none, alike), (some, apart) = visible_numbers(3), visible_numbers(0)
    assert (none, some) == (0, answers)
    assert [one.ask for one, other in zip(alike, apart, strict=True) if one.parts != other.parts] == []
