"""Tests of the query pages: sampling data, source row, language, no grades."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.models import Query, QuerySample
from judgments.rounds.settings import RoundSettings

pytestmark = pytest.mark.django_db


def page_of(client, query):
    return client.get(reverse("query", args=[query.collection.slug, query.uuid])).content.decode()


def test_empty_list_says_what_to_do(client_of, collection, lead):
    html = client_of(lead).get(reverse("queries", args=["shop"])).content.decode()
    assert "No queries yet" in html


def test_list_names_the_draw(client_of, collection, lead):
    sample = QuerySample.objects.create(
        collection=collection, log_name="autumn.csv", log_sha256="a" * 64, method="stratified", seed=17
    )
    Query.objects.create(collection=collection, query_id="q1", text="rain jacket", sample=sample)
    html = client_of(lead).get(reverse("queries", args=["shop"])).content.decode()
    assert "Drawn from autumn.csv, stratified, seed 17" in html


def test_query_shows_its_raw_row_and_escapes(client_of, collection, lead):
    raw = {"query": "<script>alert(1)</script>"}
    query = Query.objects.create(collection=collection, query_id="q1", text="<b>rain</b>", raw_row=raw)
    html = page_of(client_of(lead), query)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<b>rain</b>" not in html


def test_query_of_another_collection_is_not_there(client_of, collection, lead, elsewhere):
    query = Query.objects.create(collection=elsewhere, query_id="q1", text="rain jacket")
    assert client_of(lead).get(reverse("query", args=["shop", query.uuid])).status_code == 404


def test_query_tells_its_language_and_that_it_is_not_known(client_of, collection, lead):
    tagged = Query.objects.create(collection=collection, query_id="q1", text="Regenjacke", language="de")
    bare = Query.objects.create(collection=collection, query_id="q2", text="404")
    assert '<span class="mono">de</span>' in page_of(client_of(lead), tagged)
    assert "any rater may get it" in page_of(client_of(lead), bare)


def test_query_hides_how_often_a_pair_was_rated_that_the_reader_may_still_grade(
    client_of, make_round, lead, engineer, rater, rater2, rater3, rate_all
):
    """Three ratings where two were planned say that the two lay far apart."""
    settings = RoundSettings(extra_at=2)
    round_ = make_round(queries=1, documents=1, raters=[rater, rater2, rater3], settings=settings)
    for user, grade in ((rater, 0), (rater2, 3), (rater3, 1)):
        rate_all(round_, user, grade=grade)
    again = make_round(queries=1, documents=1, raters=[lead], name="Again")
    address = reverse("query", args=["shop", round_.pairs.get().query.uuid])

    def visible_ratings(user):
        rows = client_of(user).get(address).context["listing"].rows
        return {pair.round.name: pair.ratings for pair in rows}

    assert visible_ratings(engineer) == {"Round 1": 3, "Again": 0}
    assert visible_ratings(lead) == {"Round 1": None, "Again": None}
    assert ">hidden<" in client_of(lead).get(address).content.decode()
    rate_all(again, lead, grade=1)
    assert visible_ratings(lead) == {"Round 1": 3, "Again": 1}
