"""Tests of the scoring form: choices, large work as a job, and errors by field."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from assay.metrics import METRICS
from evaluation.scoring import scoring
from judgments.models import Job

pytestmark = pytest.mark.django_db
PAGE = "/c/shop/scores/new/"


@pytest.fixture
def web(client_of, engineer):
    return client_of(engineer)


@pytest.fixture
def form_data(snapshot, collection):
    runs = [str(run.uuid) for run in collection.runs.all()]
    return {"snapshot": str(snapshot.uuid), "runs": runs, "metrics": "P@1"}


def test_before_a_snapshot(collection, web):
    assert "No snapshot yet" in web.get(PAGE).content.decode()


def test_score_all_that_is_left(snapshot, collection, web, form_data):
    assert "Score 2 runs</button>" in web.get("/c/shop/scores/").content.decode()
    response = web.post(PAGE, form_data | {"metrics": ""})
    assert response.url == f"/c/shop/scores/?snapshot={snapshot.uuid}"
    assert collection.scorings.count() == 2


def test_the_form_has_the_last_settings(snapshot, collection, web, form_data, engineer):
    (bm25,) = collection.runs.filter(name="bm25")
    scoring.score_runs(snapshot, [bm25], actor=engineer, metrics=["P@3", "AP"], level=0.9, method="t")
    form = web.get(PAGE).context["form"]
    assert form.initial["metrics"] == "AP P@3"
    assert (form.initial["level"], form.initial["method"]) == (0.9, "t")
    assert form.initial["runs"] == [collection.runs.get(name="neural").uuid]  # the one that is left


def test_level_and_method_are_stored(collection, web, form_data):
    web.post(PAGE, form_data | {"method": "t", "level": "0.99"})
    score = collection.scorings.first().scores.get()
    assert (score.metric, score.method, score.level) == ("P@1", "t", 0.99)
    assert "99% interval" in web.get("/c/shop/scores/").content.decode()


def test_remaining_runs_are_scored_at_the_last_level(collection, snapshot, web, engineer):
    scoring.score_runs(snapshot, [collection.runs.get(name="bm25")], actor=engineer, metrics=["AP"], level=0.8)
    html = web.get("/c/shop/scores/").content.decode()
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', html))
    assert (fields["level"], fields["metrics"], fields["runs"]) == (
        "0.8",
        "AP",
        str(collection.runs.get(name="neural").uuid),
    )
    assert web.post(PAGE, fields).status_code == 302
    assert {one.scores.get().level for one in collection.scorings.all()} == {0.8}


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("nDCG@999999999999", "larger than any run"),
        ("P@" + ",".join(str(number) for number in range(1, 1000)), "exceed the limit"),
        ("x" * 5_001, "at most 5000"),
        (
            f"nDCG(gains={{{','.join(f'{grade}:{grade * 1000}' for grade in range(30))}}})@10",
            "more than 100 characters",
        ),
        ("alpha_nDCG@10", "needs labels by subtopic"),
        ("nDCG@10\x00", "Null characters are not allowed"),
        ("<script>alert(1)</script>", "unknown metric"),
    ],
)
def test_invalid_metrics_are_reported_under_their_field(collection, web, form_data, metrics, message):
    response = web.post(PAGE, form_data | {"metrics": metrics})
    assert response.status_code == 422
    assert message in " ".join(response.context["form"].errors["metrics"])
    assert "<script>alert" not in response.content.decode()
    assert not collection.scorings.exists()


def test_no_metric_is_offered_that_a_snapshot_cannot_be_scored_with(snapshot, collection, web, form_data):
    """Every metric of the family that is offered can be scored, and its pages can be shown."""
    page = web.get(PAGE)
    assert "alpha_nDCG and ERR_IA need labels by subtopic." in page.content.decode()
    offered = [one["name"] for one in page.context["known"]]
    assert not {"alpha_nDCG@10", "ERR_IA@10"} & set(offered)
    assert len(offered) == len(METRICS) - 2
    assert web.post(PAGE, form_data | {"metrics": " ".join(offered)}).status_code == 302
    remaining = set(collection.scorings.first().scores.values_list("metric", flat=True))
    assert len(remaining) == len(offered)
    for metric in remaining:
        address = f"/c/shop/scores/?{urlencode({'metric': metric})}"
        assert web.get(address).context["metric"] == metric
        assert len(web.get(f"{address}&format=svg").content) < 20_000


def test_large_runs_are_scored_by_a_job(web, form_data, monkeypatch):
    monkeypatch.setattr(scoring, "ROWS_AT_ONCE", 1)
    response = web.post(PAGE, form_data)
    assert response.url == reverse("job", args=[Job.objects.get(kind="score").uuid])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"metrics": "nosuch"}, "unknown metric"),
        ({"runs": []}, "Choose at least one run."),
        ({"runs": ["x"]}, "not a valid"),
        ({"method": "magic"}, "Select a valid choice"),
        ({"level": "2"}, "Select a valid choice"),
        ({"snapshot": "x"}, "not a valid"),
    ],
)
def test_form_comes_back_filled(collection, web, form_data, fields, message):
    response = web.post(PAGE, form_data | fields)
    assert response.status_code == 422
    assert message in response.content.decode().replace("“", "").replace("”", "")
    assert f'value="{(form_data | fields)["metrics"]}"' in response.content.decode()
    assert not collection.scorings.exists()


def test_run_that_answers_nothing_is_named(stage, collection, web, form_data):
    stage.store("runs", "other Q0 d1 1 1.0 x\n", "astray.run")
    response = web.post(PAGE, form_data | {"runs": [str(collection.runs.get(name="astray").uuid)]})
    assert response.status_code == 422
    assert "astray" in response.content.decode()


def test_a_collection_without_runs(without_runs, web):
    assert "No runs to score" in web.get(PAGE).content.decode()


def test_a_repeated_request_is_one_job(web, form_data, monkeypatch):
    """A second click while the first job waits, or runs, is led to it; other metrics are other work."""
    monkeypatch.setattr(scoring, "ROWS_AT_ONCE", 1)
    first, second = (web.post(PAGE, form_data).url for _ in range(2))
    assert first == second
    assert Job.objects.filter(kind="score").count() == 1
    assert web.post(PAGE, form_data | {"metrics": "P@2"}).url != first
    Job.objects.update(state="done")
    assert web.post(PAGE, form_data).url != first
