"""Tests of the activity page: audit rows of this collection only, newest first, without grades."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.agreement import resolutions
from judgments.members import collections
from judgments.models import audit

pytestmark = pytest.mark.django_db


def test_actions_are_listed_newest_first(client_of, collection, lead, outsider):
    collections.add_member(collection, actor=lead, username=outsider.username, role="rater")
    collections.update_collection(collection, actor=lead, name="Site")
    rows = client_of(lead).get(reverse("activity", args=["shop"])).context["listing"].rows
    assert [row.verb for row in rows] == ["collections.update_collection", "collections.add_member"]


def test_acts_of_other_collections_do_not(client_of, collection, lead, outsider):
    collections.create_collection(actor=outsider, slug="other", name="Other")
    assert client_of(lead).get(reverse("activity", args=["shop"])).context["listing"].nothing


def test_filter_offers_those_who_acted(client_of, collection, lead):
    audit.record("snapshots.freeze", "The server froze a snapshot", actor=None, collection=collection)
    audit.record("rounds.open_round", "lena opened round 1", actor=lead, collection=collection)
    response = client_of(lead).get(reverse("activity", args=["shop"]) + "?who=lena")
    assert [row.verb for row in response.context["listing"].rows] == ["rounds.open_round"]


def test_a_resolution_is_listed_without_its_grade(client_of, make_round, lead, rater):
    round_ = make_round(raters=[rater, lead])
    resolutions.resolve(round_.pairs.first(), grade=3, reason="Just that.", actor=lead)
    (row,) = audit_rows(client_of(lead), "settle")
    assert row.sentence == "lena resolved “query 1” x Document 1-1"
    assert row.detail == {}


def audit_rows(client, words):
    return client.get(reverse("activity", args=["shop"]) + f"?q={words}").context["listing"].rows
