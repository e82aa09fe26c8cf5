"""Do the pages of scores show, sort, score and download, and say what is not defined?"""

from __future__ import annotations

import csv
import json
import re

import pytest
from django.urls import reverse

from evaluation import scoring
from judgments import rounds
from judgments.models import Document, Job

pytestmark = pytest.mark.django_db
PAGE = "/c/shop/scores/"


@pytest.fixture
def snapshot(stage):
    return stage.whole_way()


@pytest.fixture
def scored(snapshot, collection, engineer):
    return scoring.score_runs(snapshot, list(collection.runs.order_by("name")), actor=engineer)


@pytest.fixture
def get(client_of, engineer):
    return lambda address="", **more: client_of(engineer).get(PAGE + address, **more)


def test_before_a_snapshot(collection, get):
    assert "Scores need a snapshot" in get().content.decode()


def test_before_a_run(stage, get):
    stage.queries()
    stage.documents()
    round_ = stage.round(runs=0)
    stage.graded(round_, lambda pair, place: 1)
    stage.frozen(round_)
    assert "No run to score" in get().content.decode()


def test_score_all_that_is_left(snapshot, collection, client_of, engineer):
    client = client_of(engineer)
    assert "Score 2 runs</button>" in client.get(PAGE).content.decode()
    runs = [str(run.uuid) for run in collection.runs.all()]
    response = client.post(PAGE, {"snapshot": str(snapshot.uuid), "runs": runs, "metrics": ""})
    assert response.url == f"{PAGE}?snapshot={snapshot.uuid}"
    assert collection.scorings.count() == 2


def test_large_runs_are_scored_by_a_job(snapshot, collection, client_of, engineer, monkeypatch):
    monkeypatch.setattr(scoring, "ROWS_AT_ONCE", 1)
    runs = [str(run.uuid) for run in collection.runs.all()]
    response = client_of(engineer).post(PAGE, {"snapshot": str(snapshot.uuid), "runs": runs})
    assert response.url == reverse("job", args=[Job.objects.get().uuid])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"metrics": "nosuch"}, "there is no metric"),
        ({"runs": []}, "Choose at least one run."),
        ({"runs": ["x"]}, "not a valid"),
    ],
)
def test_form_comes_back_filled(snapshot, collection, client_of, engineer, fields, said):
    runs = [str(run.uuid) for run in collection.runs.all()]
    asked = {"snapshot": str(snapshot.uuid), "runs": runs, "metrics": "P@1", **fields}
    response = client_of(engineer).post(PAGE, asked)
    assert response.status_code == 422
    assert said in response.content.decode().replace("“", "").replace("”", "")
    assert f'value="{asked["metrics"]}"' in response.content.decode()


def test_leaderboard(scored, get):
    html = get().content.decode()
    assert html.index(">bm25</a>") < html.index(">neural</a>")
    assert "Compare bm25 with neural" in html
    assert re.search(r"<b>\d\.\d{3}</b>", html)


def test_another_metric(scored, get):
    assert 'aria-current="page">RR@10</a>' in get("?metric=RR@10").content.decode()
    assert 'aria-current="page">nDCG@10</a>' in get("?metric=nosuch").content.decode()


def test_unknown_snapshot(scored, get):
    assert get("?snapshot=nosuch").status_code == 404


def test_undefined_interval_is_said_in_words(stage, collection, engineer, get):
    stage.queries(2)
    stage.documents()
    stage.run("bm25", "0123", 2)
    stage.run("neural", "1045", 2)
    round_ = stage.round()
    stage.graded(round_, lambda pair, place: 1)
    scoring.score_runs(stage.frozen(round_), list(collection.runs.all()), actor=engineer)
    assert "none: fewer than 10 queries" in get().content.decode()


def test_downloads(scored, snapshot, get):
    rows = list(csv.DictReader(get("?format=csv").getvalue().decode().splitlines()))
    assert {(row["run"], row["metric"]) for row in rows} >= {("bm25", "nDCG@10"), ("neural", "AP")}
    assert json.loads(get("?format=json").content) == json.loads(json.dumps(scoring.as_json(snapshot, scored)))
    picture = get("?format=svg&metric=AP")
    assert picture.headers["Content-Type"] == "image/svg+xml"
    assert b"bm25" in picture.content


def test_queries_of_a_run(scored, get):
    response = get(f"{scored[0].uuid}/?sort=-AP&q=query+1")
    assert response.context["listing"].count == 3
    assert reverse("scores_query", args=["shop"]) in response.content.decode()
    file = get(f"{scored[0].uuid}/?format=csv").getvalue().decode()
    assert file.startswith("query,nDCG@10,RR@10,R@100,P@10,AP,Judged@10,query_id")


def test_query_side_by_side(scored, snapshot, get):
    response = get(f"query/?snapshot={snapshot.uuid}&query=q00&depth=20")
    found = response.context["answers"]
    assert [[place.grade for place in ranking.places] for ranking in found.rankings] == [
        [3, 2, 0, None],
        [2, 3, 0, None],
    ]
    assert response.content.decode().count('data-grade="hole"') == 2


def test_relevant_document_that_no_run_returns(scored, snapshot, get):
    found = get(f"query/?snapshot={snapshot.uuid}&query=q01&depth=1").context["answers"]
    assert [(place.doc_id, place.grade) for place in found.missed] == [("d2", 1), ("d4", 1)]


@pytest.mark.parametrize(
    ("address", "status"), [("query/", 302), ("query/?query=nosuch", 404), ("query/?query=%00", 404)]
)
def test_query_that_is_not_there(scored, get, address, status):
    assert get(address).status_code == status


def test_title_of_a_document_stays_text(scored, get):
    Document.objects.filter(doc_id="d0").update(title="<script>alert(1)</script>")
    assert "<script>alert" not in get("query/?query=q00").content.decode()


def test_lead_who_still_rates_is_not_told_the_grade(stage, snapshot, scored, client_of, lead):
    rounds.invite(stage.round(name="Round 2"), [lead], actor=lead)
    response = client_of(lead).get(PAGE + f"query/?snapshot={snapshot.uuid}&query=q01&depth=1")
    answers = response.context["answers"]
    assert [(place.grade, place.hidden) for ranking in answers.rankings for place in ranking.places] == [
        (None, True)
    ] * 2
    assert answers.missed == []
    assert "yours to grade" in response.content.decode()
