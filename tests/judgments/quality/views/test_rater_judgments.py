"""Tests of a rater's judgment list: filters by alert, repeats, exclusion, visibility."""

from __future__ import annotations

import csv
import io
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from judgments.models import Judgment, Probe, ProbeAnswer, Round, RoundRater
from judgments.quality import pausing
from judgments.rating import assignment
from tests.cached_rows import cached_fixture
from tests.world import pseudonym

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]


@pytest.fixture
@cached_fixture
def round_(make_round: Make, rater: Any, rater2: Any, rate_all: Make) -> Round:
    """Sixteen queries of five documents: one rater takes 9 s for each, the other gives 3 in half a second."""
    made = make_round(queries=16, documents=5, raters=[rater, rater2])
    rate_all(made, rater, lambda pair: pair.position % 4, seconds_active=9.0)
    rate_all(made, rater2, 3, seconds_active=0.5)
    return made


def base(round_: Round, rater: Any) -> str:
    return f"/rounds/{round_.uuid}/quality/{pseudonym(round_, rater)}/"


def in_file(client: Any, path: str) -> list[dict[str, str]]:
    text = b"".join(client.get(path).streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_the_judgments_of_one_rater_are_listed_with_the_others(
    client_of: Make, lead: Any, round_: Round, rater: Any, rater2: Any
) -> None:
    client, path = client_of(lead), base(round_, rater2)
    assert f'href="{path}judgments/"' in client.get(path).content.decode()
    page = client.get(path + "judgments/")
    assert "1–50 of 80 judgments" in page.content.decode()
    rows = in_file(client, path + "judgments/?format=csv")
    assert len(rows) == 80
    other = pseudonym(round_, rater)
    for row in rows:
        pair = round_.pairs.get(query__query_id=row["query_id"], document__doc_id=row["doc_id"])
        assert (row["grade"], row["others"], row["seconds"]) == ("3", f"{other}:{pair.position % 4}", "0.5")
    newest = Judgment.objects.filter(rater=rater2).order_by("-pk")[0].pair
    assert (rows[0]["query_id"], rows[0]["doc_id"]) == (newest.query.query_id, newest.document.doc_id)


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ("apart=2", 40),
        ("apart=1", 60),
        ("apart=0", 20),
        ("quicker=1", 80),
        ("given=3", 80),
        ("given=2", 0),
        ("q=Document+3-", 5),
        ("apart=2&q=Document+3-", 2),
    ],
)
def test_filters_select_the_judgments_of_an_alert(
    client_of: Make, lead: Any, round_: Round, rater2: Any, asked: str, left: int
) -> None:
    assert len(in_file(client_of(lead), f"{base(round_, rater2)}judgments/?{asked}&format=csv")) == left


def test_excluded_withdrawn_and_skipped_judgments_are_not_listed(
    client_of: Make, lead: Any, round_: Round, rater: Any, rater2: Any, answer: Make
) -> None:
    pausing.requeue(_member(round_, rater2), pausing.JudgmentFilter(queries=("q1",)), reason="Off.", actor=lead)
    answer(round_, rater, round_.pairs.get(position=7), None, state="unrateable", reason="No text.", note="=1+1")
    mine = in_file(client_of(lead), base(round_, rater) + "judgments/?format=csv")
    unable = in_file(client_of(lead), base(round_, rater) + "judgments/?given=unrateable&format=csv")
    assert len(mine) == 80
    assert [(row["grade"], row["said"]) for row in unable] == [("cannot judge", "No text. =1+1")]
    assert len(in_file(client_of(lead), base(round_, rater2) + "judgments/?format=csv")) == 75
    assert {row["others"] for row in mine if row["query_id"] == "q1"} == {""}


def test_repeats_are_listed_with_the_first_judgment(client_of: Make, lead: Any, round_: Round, rater2: Any) -> None:
    path = base(round_, rater2) + "judgments/?format=csv"
    assert "again" not in in_file(client_of(lead), path)[0]
    pair = round_.pairs.get(position=4)
    probe = Probe.objects.create(round=round_, rater=rater2, kind="repeat", pair=pair, expected=3, answered=True)
    ProbeAnswer.objects.create(probe=probe, rater=rater2, client_id=uuid.uuid4(), state="graded", grade=1)
    texts = {row["doc_id"]: row["again"] for row in in_file(client_of(lead), path)}
    assert texts.pop(pair.document.doc_id) == "1"
    assert set(texts.values()) == {""}


def _member(round_: Round, rater: Any) -> RoundRater:
    return RoundRater.objects.select_related("round__collection", "user").get(round=round_, user=rater)


def test_leads_who_rate_see_only_pairs_they_cannot_get(
    client_of: Make, api_of: Make, make_round: Make, rater: Any, rater2: Any, lead: Any, rate_all: Make, answer: Make
) -> None:
    made = make_round(queries=2, documents=3, raters=[rater, rater2, lead], ratings_per_pair=3)
    rate_all(made, rater, 2)
    rate_all(made, rater2, 1)
    path = base(made, rater) + "judgments/"
    assert in_file(client_of(lead), path + "?format=csv") == []
    assert "you may still grade" in client_of(lead).get(path).content.decode()
    body = api_of(lead).get(f"/api/v1/rounds/{made.uuid}/raters/{pseudonym(made, rater)}/judgments/").json()
    assert (body["count"], body["results"]) == (0, [])
    pair = assignment.claim_batch(made, rater=lead, size=1)[0]
    answer(made, lead, pair, 0)
    [row] = in_file(client_of(lead), path + "?format=csv")
    assert (row["doc_id"], row["grade"]) == (pair.document.doc_id, "2")
    assert sorted(row["others"].split()) == sorted([f"{pseudonym(made, rater2)}:1", f"{pseudonym(made, lead)}:0"])


def test_the_api_tells_the_same_page_by_page(api_of: Make, lead: Any, round_: Round, rater: Any, rater2: Any) -> None:
    path = f"/api/v1/rounds/{round_.uuid}/raters/{pseudonym(round_, rater2)}/judgments/"
    body = api_of(lead).get(path + "?page_size=60").json()
    assert (body["count"], len(body["results"])) == (80, 60)
    one = body["results"][0]
    pair = round_.pairs.get(uuid=one["pair"])
    assert one["others"] == {pseudonym(round_, rater): pair.position % 4}
    assert (one["grade"], one["seconds"], one["state"]) == (3, 0.5, "graded")
    assert "rudi" not in str(body)


def test_quick_judgments_are_excluded_from_the_list(
    client_of: Make, api_of: Make, lead: Any, round_: Round, rater: Any, rater2: Any, answer: Make
) -> None:
    answer(round_, rater2, round_.pairs.get(position=0), 1, seconds_active=20.0)
    client = client_of(lead)
    page = client.get(f"{base(round_, rater2)}judgments/?quicker=2").content.decode()
    [address] = re.findall(r'href="([^"]+/requeue/\?[^"]+)">Exclude', page)
    counted = client.get(address.replace("&amp;", "&")).content.decode()
    assert "79 judgments of 16 queries" in counted
    assert re.search(r'name="quicker_than"\s+value="2', counted)
    path = f"/api/v1/rounds/{round_.uuid}/raters/{pseudonym(round_, rater2)}/requeue/"
    body = api_of(lead).post(path, {"quicker_than": 2, "preview": True}, format="json").json()
    assert body["judgments"] == 79
    client.post(f"{base(round_, rater2)}requeue/", {"quicker_than": "2", "reason": "Not read."})
    left = Judgment.objects.current().filter(rater=rater2).get()
    assert left.seconds_active == 20.0


def test_a_page_costs_the_same_however_long_the_list(
    client_of: Make, lead: Any, round_: Round, rater2: Any, django_assert_max_num_queries: Make
) -> None:
    client, path = client_of(lead), base(round_, rater2) + "judgments/"
    client.get(path)  # what stands in the frame of every page is computed once
    with django_assert_max_num_queries(25):
        client.get(path)
