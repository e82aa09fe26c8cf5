"""Does the comparison show which query went which way, and whose documents did it?"""

from __future__ import annotations

import pytest

from evaluation import scoring

pytestmark = pytest.mark.django_db
PAGE = "/c/shop/scores/compare/"


@pytest.fixture
def scored(stage, collection, engineer):
    return scoring.score_runs(stage.whole_way(), list(collection.runs.order_by("name")), actor=engineer)


@pytest.fixture
def get(client_of, engineer):
    return lambda address="": client_of(engineer).get(PAGE + address)


def test_needs_two_scored_runs(collection, get):
    assert "needs two scored runs" in get().content.decode()


def test_best_run_is_the_candidate(scored, get):
    found = get().context["comparison"]
    assert (found.b.run.name, found.a.run.name) == ("bm25", "neural")


def test_runs_by_name_and_metric(scored, get):
    found = get("?a=bm25&b=neural&metric=RR@10").context["comparison"]
    assert (found.a.run.name, found.b.run.name, found.metric) == ("bm25", "neural", "RR@10")


def test_same_run_twice_takes_another(scored, get):
    found = get("?a=bm25&b=bm25").context["comparison"]
    assert found.a != found.b


def test_list_keeps_what_is_compared(scored, get):
    response = get("?a=bm25&b=neural&metric=AP&sort=query")
    page = response.context["listing"]
    assert "metric=AP" in page.csv
    assert "metric=AP" in page.heads[0][1]
    rows = get(page.csv).getvalue().decode().splitlines()
    assert rows[0] == "query,difference,a,b,query_id"
    assert len(rows) == 13


def test_opened_query(scored, get):
    response = get("?a=neural&b=bm25&query=q00")
    html = response.content.decode()
    assert "1 higher" in html
    assert "only here" in html
    assert 'class="here-line"' in html


def test_query_that_is_not_there_opens_nothing(scored, get):
    assert "opened" not in get("?query=nosuch").content.decode().replace("#opened", "")


def test_picture_as_a_file(scored, get):
    response = get("?format=svg")
    assert response.headers["Content-Disposition"].endswith('.svg"')
    assert b"<svg" in response.content
