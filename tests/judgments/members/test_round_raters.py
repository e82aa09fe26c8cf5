"""Tests of joining and leaving a round: eligible raters, removed raters, slots by query language."""

from __future__ import annotations

import html
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import Conflict, NotAllowed, NotValid
from assay.formats.row_types import QueryRow
from judgments.imports import queries
from judgments.imports.kinds import Checked
from judgments.members import collections as members
from judgments.members import round_raters
from judgments.models import AuditRow, Judgment, Membership, Query, Round, Slot
from judgments.rating import assignment, submission
from judgments.rounds.settings import RoundSettings

pytestmark = pytest.mark.django_db
OPEN = RoundSettings(walk_in=True, qualification="chemistry", by_language=True)
REMOVED = "You are no longer a member of Shop search. Your earlier answers are stored"


def membership(user: Any) -> Membership:
    return Membership.objects.get(user=user)


def test_eligible_raters_join(
    make_round: Callable[..., Any], rater: Any, rater2: Any, collection: Any, lead: Any
) -> None:
    Query.objects.create(collection=collection, query_id="q1", text="query 1", language="de-AT")
    Query.objects.create(collection=collection, query_id="q2", text="query 2", language="fr")
    members.update_member_notes(membership(rater), actor=lead, qualifications=[" chemistry "], languages=["de"])
    round_ = make_round(queries=2, documents=2, raters=[rater], settings=OPEN)
    # Asked, and handed what they read.
    assert {pair.query.query_id for pair in assignment.claim_batch(round_, rater=rater)} == {"q1"}
    assert round_raters.joinable(rater) == []
    with pytest.raises(NotAllowed, match="qualification chemistry"):
        round_raters.join(round_, rater=rater2)
    with pytest.raises(NotValid):
        round_raters.invite(round_, [rater2], actor=lead)
    members.update_member_notes(membership(rater2), actor=lead, qualifications=["chemistry"], languages=["sv"])
    with pytest.raises(NotAllowed, match="you read sv"):
        round_raters.join(round_, rater=rater2)
    members.update_member_notes(membership(rater2), actor=lead, languages=["fr"])
    assert round_raters.joinable(rater2) == [round_]
    assert round_raters.join(round_, rater=rater2) == round_raters.join(round_, rater=rater2)
    assert {pair.query.query_id for pair in assignment.claim_batch(round_, rater=rater2)} == {"q2"}
    assert AuditRow.objects.filter(verb="rounds.join").count() == 1


def test_an_invitation_round_accepts_only_invited_raters(
    make_round: Callable[..., Any], rater: Any, rater2: Any
) -> None:
    round_ = make_round(raters=[rater])
    assert round_raters.joinable(rater2) == []
    with pytest.raises(NotAllowed, match="Only invited"):
        round_raters.join(round_, rater=rater2)


@pytest.mark.parametrize("how", ["stepped down", "was removed"])
def test_staff_since_the_first_grade_cannot_rate(
    make_round: Callable[..., Any], rater: Any, rater2: Any, engineer: Any, collection: Any, lead: Any, how: str
) -> None:
    """Nobody reads the grades as an engineer or a lead and then gives theirs as a rater."""
    early = make_round(name="Early", raters=[rater], settings=RoundSettings(walk_in=True))
    round_ = make_round(raters=[rater], settings=RoundSettings(walk_in=True))
    (pair,) = assignment.claim_batch(round_, rater=rater, size=1)
    submission.submit(round_, submission.Answer(uuid.uuid4(), pair.uuid, 2), rater=rater)
    if how == "was removed":
        members.remove_member(membership(engineer), actor=lead)
        members.add_member(collection, actor=lead, username=engineer.username, role="rater")
    else:
        members.change_role(membership(engineer), actor=lead, role="rater")
    with pytest.raises(Conflict, match="blind"):
        round_raters.join(round_, rater=engineer)
    with pytest.raises(NotValid, match="blind"):
        round_raters.invite(round_, [engineer], actor=lead)
    assert round_raters.joinable(engineer) == [early]
    assert round_raters.join(early, rater=engineer).left_at is None
    assert round_raters.join(round_, rater=rater2).left_at is None


def test_leads_cannot_join_rounds_whose_grades_they_could_read(
    make_round: Callable[..., Any], answer: Callable[..., Any], rater: Any, lead: Any
) -> None:
    round_ = make_round(raters=[rater], settings=RoundSettings(walk_in=True))
    assert round_raters.joinable(lead) == [round_]
    (pair,) = assignment.claim_batch(round_, rater=rater, size=1)
    answer(round_, rater, pair, 2)
    assert round_raters.joinable(lead) == []
    with pytest.raises(Conflict, match="blind"):
        round_raters.join(round_, rater=lead)


def test_a_rater_who_is_removed_mid_batch_loses_nothing(
    make_round: Callable[..., Any],
    answer: Callable[..., Any],
    api_of: Callable[..., Any],
    rater: Any,
    rater2: Any,
    lead: Any,
) -> None:
    round_ = make_round(queries=1, documents=4, raters=[rater, rater2], ratings_per_pair=1)
    batch = assignment.claim_batch(round_, rater=rater, size=4)
    answer(round_, rater, batch[0], 2)
    client = api_of(rater)
    members.remove_member(membership(rater), actor=lead)
    payload = {"client_id": str(uuid.uuid4()), "pair": str(batch[1].uuid), "grade": 1}
    refused = client.post(f"/api/v1/rounds/{round_.uuid}/judgments/", payload, format="json")
    assert refused.status_code == 403
    assert "no longer a member" in refused.json()["error"]["message"]
    assert set(assignment.claim_batch(round_, rater=rater2, size=4)) == set(batch[1:])
    assert Judgment.objects.counted().count() == 1
    # Asked again, they are who they were.
    members.add_member(round_.collection, actor=lead, username=rater.username, role="rater")
    with pytest.raises(NotAllowed):
        assignment.claim_batch(round_, rater=rater)
    round_raters.invite(round_, [rater], actor=lead)
    assert round_.raters.filter(user=rater, left_at__isnull=True).count() == 1
    assert assignment.claim_batch(round_, rater=rater) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("post", "api/v1/{round}/batch/"),
        ("post", "api/v1/{round}/judgments/"),
        ("get", "api/v1/{round}/judgments/"),
        ("post", "api/v1/{round}/judgments/{answer}/undo/"),
        ("post", "api/v1/{round}/release/"),
        ("post", "api/v1/{round}/join/"),
        ("get", "{round}/rate/"),
        ("post", "{round}/rate/"),
        ("post", "{round}/rate/next/"),
        ("get", "{round}/rate/last/"),
        ("post", "{round}/release/"),
        ("post", "{round}/join/"),
        ("get", "{round}/calibrate/"),
        ("get", "{round}/settled/"),
    ],
)
def test_every_address_reports_the_removal_to_a_removed_rater(
    method: str,
    path: str,
    make_round: Callable[..., Any],
    answer: Callable[..., Any],
    client_of: Callable[..., Any],
    api_of: Callable[..., Any],
    rater: Any,
    rater2: Any,
    lead: Any,
    rate_all: Callable[..., int],
) -> None:
    round_ = make_round(queries=1, documents=4, raters=[rater, rater2], ratings_per_pair=1)
    batch = assignment.claim_batch(round_, rater=rater, size=4)
    given = answer(round_, rater, batch[0], 2, note="A good one.").judgment
    client = (api_of if path.startswith("api") else client_of)(rater)
    members.remove_member(membership(rater), actor=lead)
    address = "/" + path.format(round=f"rounds/{round_.uuid}", answer=given.client_id)
    # The same answer once more, and a new one: neither is taken, and neither takes anything away.
    for client_id, pair, grade in ((given.client_id, batch[0], 1), (uuid.uuid4(), batch[1], 3)):
        payload = {"client_id": str(client_id), "pair": str(pair.uuid), "grade": grade, "note": "Typed for long."}
        more = {"format": "json"} if path.startswith("api") else {}
        response = client.get(address) if method == "get" else client.post(address, payload, **more)
        assert response.status_code == 403
        assert REMOVED in html.unescape(response.content.decode())
    [stored] = Judgment.objects.current().of_round(round_)
    assert (stored.pk, stored.grade, stored.note) == (given.pk, 2, "A good one.")
    assert rate_all(round_, rater2) == 3, "what they had in hand is others' at once"
    assert not Judgment.objects.of_round(round_).filter(surplus=True).exists()


def test_raters_who_leave_return_pairs_and_may_rejoin(
    make_round: Callable[..., Any], api_of: Callable[..., Any], rater: Any, rater2: Any
) -> None:
    round_ = make_round(queries=1, documents=3, raters=[rater, rater2], ratings_per_pair=1)
    held = assignment.claim_batch(round_, rater=rater, size=3)
    assert api_of(rater).post(f"/api/v1/rounds/{round_.uuid}/release/").json() == {"released": 3}
    (taken,) = assignment.claim_batch(round_, rater=rater2, size=1)
    again = assignment.claim_batch(round_, rater=rater, size=3)
    assert set(again) == set(held) - {taken}


def test_breadth_first_rates_each_pair_once_before_any_twice(
    make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, rater2: Any, rater3: Any
) -> None:
    round_ = make_round(
        queries=2, documents=3, raters=[rater, rater2, rater3], settings=RoundSettings(breadth_first=True)
    )
    first = assignment.claim_batch(round_, rater=rater, size=3)
    second = assignment.claim_batch(round_, rater=rater2, size=3)
    assert {pair.query.query_id for pair in first} == {"q1"}
    assert {pair.query.query_id for pair in second} == {"q2"}
    third = assignment.claim_batch(round_, rater=rater3, size=6)
    assert {pair.pk for pair in third} == {pair.pk for pair in (*first, *second)}


def test_slots_follow_the_language_of_their_query(
    make_round: Callable[..., Any], collection: Any, rater: Any, rater2: Any, lead: Any
) -> None:
    members.update_member_notes(membership(rater), actor=lead, languages=["de"])
    round_ = make_round(queries=2, documents=2, raters=[rater, rater2], settings=RoundSettings(by_language=True))
    assert assignment.remaining(round_, rater) == 4
    rows = [QueryRow("q1", "query 1", language="fr"), QueryRow("q2", "query 2", language="de")]
    queries.store(collection, Checked(rows, [], {}), None, {}, lead)  # type: ignore[arg-type]
    round_ = Round.objects.get(pk=round_.pk)
    assert round_.languages_made == {"fr": 2, "de": 2}
    assert set(Slot.objects.values_list("pair__query__language", "language")) == {("fr", "fr"), ("de", "de")}
    assert assignment.remaining(round_, rater) == 2


def test_a_language_that_is_no_tag_is_refused(rater: Any, lead: Any, collection: Any) -> None:
    with pytest.raises(NotValid, match="languages are not valid"):
        members.update_member_notes(membership(rater), actor=lead, languages=["German!"])
    with pytest.raises(NotValid, match="too long"):
        members.update_member_notes(membership(rater), actor=lead, qualifications=["x" * 61])
