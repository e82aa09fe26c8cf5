"""Tests of the overview: one main button for each role, with a bounded number of database queries."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from evaluation.scoring import scoring
from tests.evaluation.stage import by_digit

pytestmark = pytest.mark.django_db
PAGE = "/c/shop/"


def main_buttons(html):
    return re.findall(r'class="btn btn--main"[^>]*>([^<]*)<', html)


@pytest.fixture
def page(client_of):
    return lambda user: client_of(user).get(PAGE).content.decode()


def test_empty_collection_offers_a_comparison(page, collection, lead):
    html = page(lead)
    assert main_buttons(html) == ["Compare two systems"]
    assert reverse("start", args=["shop"]) in html


def test_engineer_of_an_empty_collection_may_add_a_run(page, collection, engineer):
    html = page(engineer)
    assert main_buttons(html) == ["Add run"]
    assert reverse("query_logs_new", args=["shop"]) not in html


def test_raters_may_not_see_the_overview(client_of, collection, rater):
    answer = client_of(rater).get(PAGE)
    assert answer.status_code == 403
    assert reverse("home") in answer.content.decode()


def test_each_state_has_one_main_button(stage, page, lead, engineer):
    for step in (
        stage.queries,
        stage.documents,
        lambda: stage.run("bm25", "0123"),
        lambda: stage.run("neural", "1045"),
        stage.round,
        lambda: stage.graded(stage.collection.rounds.get(), by_digit),
        lambda: stage.frozen(stage.collection.rounds.get()),
    ):
        step()
        for user in (lead, engineer):
            assert len(main_buttons(page(user))) == 1


def test_whole_way(stage, page, collection, lead, engineer):
    scoring.score_runs(stage.whole_way(), list(collection.runs.all()), actor=engineer)
    html = page(lead)
    assert main_buttons(html) == ["View actions"]
    assert html.count('<li class="step"') == 8
    assert html.count('<svg class="chart') == 7  # all but the queries, which no log stands behind
    assert "scored bm25, neural on first" in html


def test_engineer_is_shown_no_act_of_a_lead(stage, page, engineer):
    stage.whole_way()
    html = page(engineer)
    for name in ("pool_new", "snapshot_new", "collection_settings", "guidelines_new"):
        assert f'href="{reverse(name, args=["shop"])}"' not in html


def test_pseudonyms_and_no_names_of_raters(stage, page, lead):
    stage.whole_way()
    picture = re.search(r'aria-label="Ratings by rater: ([^"]*)"', page(lead))[1]
    assert picture == "r01 48, r02 48"


def test_price(stage, client_of, lead, django_assert_max_num_queries):
    stage.whole_way()
    client = client_of(lead)
    client.get(PAGE)
    with django_assert_max_num_queries(56):
        client.get(PAGE)
    for name in ("a", "b", "c"):
        stage.run(name, {"a": "01", "b": "12", "c": "23"}[name])
    with django_assert_max_num_queries(56):
        client.get(PAGE)


def test_nothing_inline(stage, page, lead):
    stage.whole_way()
    html = page(lead)
    assert " style=" not in html
    assert "<style" not in html
