"""API tests of rating: batches, leases, submission and what a rater's client must never receive."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from judgments.models import Judgment, Pair, Round, RoundRater
from judgments.rounds import rounds
from tests.world import SECRETS, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def path(world: World) -> str:
    return f"/api/v1/rounds/{world.round.uuid}"


@pytest.fixture
def api(rater: Any, api_of: Callable[..., APIClient]) -> APIClient:
    """The rater's program, with the scope of rating only."""
    return api_of(rater, ("rate",))


def answer(pair: Pair | str, grade: Any = 2, **more: Any) -> dict[str, Any]:
    return {"client_id": str(uuid.uuid4()), "pair": str(getattr(pair, "uuid", pair)), "grade": grade, **more}


@pytest.fixture
def pair(api: APIClient, path: str) -> str:
    """The id of a pair that was leased to the rater."""
    return api.post(f"{path}/batch/?size=1").json()["pairs"][0]["id"]


def test_responses_to_raters_contain_no_secret(
    world: World, path: str, rater: Any, rater2: Any, api_of: Any, client_of: Any
) -> None:
    api = api_of(rater)
    batch = api.post(f"{path}/batch/?size=50")
    first = batch.json()["pairs"][0]["id"]
    payload = answer(first, note="mine")
    texts = [
        batch,
        api.post(f"{path}/judgments/", payload, format="json"),
        api.post(f"{path}/judgments/", [payload, answer(first, 9), answer(world.conflict)], format="json"),
        api.post(f"{path}/judgments/{payload['client_id']}/undo/"),
        api.get(f"{path}/progress/"),
        api.get("/api/v1/collections/"),
        client_of(rater).get(f"/rounds/{world.round.uuid}/rate/"),
    ]
    assert [response.status_code for response in texts] == [200, 201, 200, 200, 200, 200, 200]
    everything = " ".join(response.content.decode() for response in texts)
    assert [secret for secret in (*SECRETS, "origin", "best_rank", rater2.username) if secret in everything] == []


def test_the_keys_of_a_batch_are_the_promised_ones(api: APIClient, path: str) -> None:
    for shown in api.post(f"{path}/batch/").json()["pairs"]:
        assert set(shown) == {"id", "kind", "query", "document", "evidence", "reference"}
        assert set(shown["query"]) == {"id", "text", "narrative"}
        assert set(shown["document"]) == {"id", "title", "html", "url", "image", "fields"}


def test_the_text_is_safe_html(world: World, api: APIClient, path: str) -> None:
    world.collection.documents.update(text="<b>Bold</b><script>alert(1)</script><img src=x onerror=alert(1)>")
    html = {shown["document"]["html"] for shown in api.post(f"{path}/batch/").json()["pairs"]}
    assert html == {"<b>Bold</b>"}


@pytest.mark.parametrize("size", ["0", "51", "-1", "ten", "", "000001", "9" * 400, "1" * 5000])
def test_a_size_that_is_none(api: APIClient, path: str, size: str) -> None:
    response = api.post(f"{path}/batch/?size={size}")
    assert (response.status_code, set(response.json()["error"]["fields"])) == (400, {"size"})


def test_the_lease_lasts_until_it_says(api: APIClient, path: str, world: World) -> None:
    from django.utils.dateparse import parse_datetime

    batch = api.post(f"{path}/batch/").json()
    leases = world.round.slots.filter(filled_by=None, rater__isnull=False).values_list("lease_until", flat=True)
    assert set(leases) == {parse_datetime(batch["expires_at"])}


def test_a_grade_is_recorded_once(api: APIClient, path: str, pair: str) -> None:
    payload = answer(pair)
    first = api.post(f"{path}/judgments/", payload, format="json")
    again = api.post(f"{path}/judgments/", payload, format="json")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert first.json() == {
        "client_id": payload["client_id"],
        "pair": pair,
        "state": "graded",
        "grade": 2,
        "surplus": False,
    }


@pytest.mark.parametrize("state", ["unrateable", "later"])
def test_an_answer_without_a_grade(api: APIClient, path: str, pair: str, state: str) -> None:
    payload = {"client_id": str(uuid.uuid4()), "pair": pair, "state": state, "reason": "no text"}
    response = api.post(f"{path}/judgments/", payload, format="json")
    assert (response.status_code, response.json()["state"], response.json()["grade"]) == (201, state, None)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"grade": 9}, "grade"),
        ({"grade": None}, "grade"),
        ({"grade": "two"}, "grade"),
        ({"grade": 2.5}, "grade"),
        ({"grade": 10**30}, "grade"),
        ({"state": "undone", "grade": None}, "state"),
        ({"state": "later"}, "grade"),
        ({"client_id": "x"}, "client_id"),
        ({"pair": None}, "pair"),
        ({"seconds_active": -1}, "seconds_active"),
        ({"note": "a\x00b"}, "note"),
    ],
)
def test_invalid_input_is_reported_by_field(api: APIClient, path: str, pair: str, change: Any, field: str) -> None:
    response = api.post(f"{path}/judgments/", answer(pair) | change, format="json")
    assert (response.status_code, set(response.json()["error"]["fields"])) == (400, {field})


def test_a_pair_that_was_never_leased(api: APIClient, path: str, world: World) -> None:
    held = Pair.objects.filter(handouts__rater__username="rosa")
    free = world.round.pairs.exclude(pk__in=held).first()
    response = api.post(f"{path}/judgments/", answer(free), format="json")
    assert (response.status_code, response.json()["error"]["code"]) == (409, "conflict")


def test_a_closed_round_takes_nothing_and_loses_nothing(
    api: APIClient, path: str, pair: str, world: World, lead: Any
) -> None:
    payload = answer(pair)
    api.post(f"{path}/judgments/", payload, format="json")
    rounds.close_round(world.round, actor=lead)
    assert api.post(f"{path}/judgments/", answer(pair), format="json").status_code == 410
    assert api.post(f"{path}/batch/").json()["error"]["code"] == "closed"
    assert api.post(f"{path}/judgments/", payload, format="json").status_code == 200


def test_a_full_pair_keeps_the_answer_as_surplus(
    collection: Any, world: World, rater: Any, rater2: Any, api_of: Any, make_round: Any
) -> None:
    made: Round = make_round(raters=[rater, rater2], ratings_per_pair=1, queries=1, documents=1, name="Narrow")
    api = api_of(rater, ("rate",))
    path = f"/api/v1/rounds/{made.uuid}"
    shown = api.post(f"{path}/batch/").json()["pairs"][0]["id"]
    made.slots.update(lease_until="2020-01-01T00:00:00Z")
    other = api_of(rater2, ("rate",))
    other.post(f"{path}/batch/")
    assert other.post(f"{path}/judgments/", answer(shown), format="json").json()["surplus"] is False
    late = api.post(f"{path}/judgments/", answer(shown), format="json")
    assert (late.status_code, late.json()["surplus"]) == (201, True)


def test_a_list_is_answered_one_by_one(api: APIClient, path: str, pair: str, world: World) -> None:
    good = answer(pair)
    never = world.closed.pairs.first()
    answers = [good, good, answer(pair, 9), answer(never), {"grade": 1}, "nothing"]
    response = api.post(f"{path}/judgments/", answers, format="json")
    results = response.json()["results"]
    assert response.status_code == 200
    assert [result["status"] for result in results] == [201, 200, 400, 404, 400, 400]
    assert results[0]["error"] is None
    assert set(results[2]["error"]) == {"code", "message", "fields"}
    assert [result["client_id"] for result in results[:3]] == [good["client_id"]] * 2 + [answers[2]["client_id"]]


def test_skipping_a_graded_pair_keeps_its_grade(api: APIClient, path: str, pair: str) -> None:
    assert api.post(f"{path}/judgments/", answer(pair), format="json").status_code == 201
    later = answer(pair, None, state="later", if_open=True)
    (listed,) = api.post(f"{path}/judgments/", [later], format="json").json()["results"]
    assert (listed["client_id"], listed["status"], listed["error"]) == (later["client_id"], 200, None)
    alone = api.post(f"{path}/judgments/", later, format="json")
    assert (alone.status_code, alone.json()["state"], alone.json()["grade"]) == (200, "graded", 2)


def test_a_list_that_is_too_long(api: APIClient, path: str) -> None:
    assert api.post(f"{path}/judgments/", [{}] * 1001, format="json").status_code == 413


def test_undo_puts_the_pair_back_and_can_be_repeated(api: APIClient, path: str, pair: str) -> None:
    payload = answer(pair)
    api.post(f"{path}/judgments/", payload, format="json")
    before = Judgment.objects.count()
    texts = [api.post(f"{path}/judgments/{payload['client_id']}/undo/") for _ in range(2)]
    assert [response.json()["state"] for response in texts] == ["undone", "undone"]
    assert Judgment.objects.count() == before + 1
    assert pair in [shown["id"] for shown in api.post(f"{path}/batch/").json()["pairs"]]


def test_recent_judgments_are_listed_and_can_be_corrected(api: APIClient, path: str, pair: str) -> None:
    def last() -> list[dict[str, Any]]:
        return api.get(f"{path}/judgments/").json()["results"]

    before = last()
    payload = answer(pair, 2, note="A word.")
    api.post(f"{path}/judgments/", payload, format="json")
    latest, *rest = last()
    assert rest == before
    assert {name: latest[name] for name in payload} == payload
    assert (latest["state"], latest["changeable"]) == ("graded", True)
    assert api.post(f"{path}/judgments/", answer(pair, 0), format="json").status_code == 201
    changed, *rest = last()
    assert (changed["pair"], changed["grade"], rest) == (pair, 0, before)


def test_a_closed_round_tells_no_last_answers(api: APIClient, path: str, pair: str, world: World, lead: Any) -> None:
    api.post(f"{path}/judgments/", answer(pair), format="json")
    rounds.close_round(world.round, actor=lead)
    assert api.get(f"{path}/judgments/").status_code == 410


def test_a_rater_sees_their_own_progress_only(world: World, path: str, rater: Any, api_of: Any) -> None:
    body = api_of(rater, ("read",)).get(f"{path}/progress/").json()
    assert set(body) == {"raters", "remaining", "more_may_come"}
    assert [row["graded"] for row in body["raters"]] == [1]


def test_a_rater_outside_the_round(world: World, path: str, rater3: Any, api_of: Any) -> None:
    api = api_of(rater3)
    statuses = [api.post(f"{path}/batch/").status_code, api.get(f"{path}/progress/").status_code]
    assert statuses == [403, 403]


def test_leads_cannot_resolve_pairs_they_still_have_to_grade(world: World, lead: Any, api_of: Any) -> None:
    RoundRater.objects.create(round=world.round, user=lead, pseudonym="r09")  # asked before the first grade
    pair = world.round.pairs.filter(slots__filled_by__isnull=True).first()
    path = f"/api/v1/rounds/{world.round.uuid}/conflicts/"
    response = api_of(lead).post(f"{path}{pair.uuid}/settle/", {"grade": 1, "reason": "I know"}, format="json")
    assert response.status_code == 403
    assert str(pair.uuid) not in json.dumps(api_of(lead).get(path).json())


@pytest.mark.parametrize(("scope", "status"), [("rate", 200), ("write", 200), ("read", 403)])
def test_rating_needs_a_scope_that_covers_it(
    world: World, path: str, rater: Any, api_of: Any, scope: str, status: int
) -> None:
    assert api_of(rater, (scope,)).post(f"{path}/batch/").status_code == status


def test_a_token_for_rating_reads_nothing_else(world: World, lead: Any, api_of: Any) -> None:
    assert api_of(lead, ("rate",)).get("/api/v1/collections/shop/queries/").status_code == 403


HALF = "\ud800"


@pytest.mark.parametrize("odd", [{"state": HALF}, {"client_id": HALF}, {"client_id": float("inf")}, {"pair": HALF}])
def test_invalid_input_is_refused_each_time(api: APIClient, path: str, pair: str, odd: Any) -> None:
    # As bytes: the test client could not write the infinite number, which a program writes as 1e999.
    body = json.dumps([{**answer(pair), **odd}]).replace("Infinity", "1e999")
    one = api.post(f"{path}/judgments/", body[1:-1], content_type="application/json")
    listed = api.post(f"{path}/judgments/", body, content_type="application/json")
    assert (one.status_code, listed.status_code) == (400, 200)
    assert [result["status"] for result in listed.json()["results"]] == [400]


@pytest.mark.parametrize("seconds", ["nan", "NaN", "-0.0", "inf", "1e400"])
def test_a_time_that_is_none_loses_no_other_answer(api: APIClient, path: str, seconds: str) -> None:
    """A text that reads as a number may be one that nothing can be counted with."""
    batch = [shown["id"] for shown in api.post(f"{path}/batch/?size=2").json()["pairs"]]
    answers = [answer(batch[0], seconds_active=seconds, seconds_away=seconds), answer(batch[1], seconds_active=1.5)]
    response = api.post(f"{path}/judgments/", answers, format="json")
    statuses = [one["status"] for one in response.json()["results"]]
    assert statuses == [201 if seconds == "-0.0" else 400, 201]
    alone = api.post(f"{path}/judgments/", {**answers[0], "client_id": str(uuid.uuid4())}, format="json")
    assert alone.status_code == statuses[0]
