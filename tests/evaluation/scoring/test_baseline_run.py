"""Tests of the baseline: the start of every comparison, and automatic scoring of new runs."""

from __future__ import annotations

import json

import pytest
from django.db import IntegrityError, transaction

from evaluation import compare as compare_runs
from evaluation.models import Scoring
from evaluation.scoring import leaderboard, scoring, stored_scores
from judgments.models import AuditRow, Job
from pooling.models import Run
from pooling.runs import runs

pytestmark = pytest.mark.django_db
PAGE = "/c/shop/scores/"


@pytest.fixture
def scored(stage, snapshot, collection, engineer):
    stage.run("third", "2013")
    runs.set_baseline(collection, collection.runs.get(name="neural"), actor=stage.lead)
    return scoring.score_runs(snapshot, list(collection.runs.order_by("name")), actor=engineer)


def test_a_collection_has_one_baseline_and_its_changes_are_on_record(stage, collection, snapshot):
    bm25, neural = collection.runs.order_by("name")
    runs.set_baseline(collection, bm25, actor=stage.lead)
    runs.set_baseline(collection, neural, actor=stage.lead)
    assert list(Run.objects.filter(baseline=True)) == [neural]
    row = AuditRow.objects.filter(verb="runs.set_baseline").first()
    assert row.detail == {"before": "bm25", "after": "neural"}
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.update(baseline=True)
    runs.set_baseline(collection, None, actor=stage.lead)
    assert not Run.objects.filter(baseline=True).exists()


def test_the_page_of_a_run_makes_it_the_baseline_and_takes_it_back(client_of, engineer, collection, snapshot):
    run = collection.runs.get(name="bm25")
    page = f"/c/shop/runs/{run.uuid}/"
    for expected in (True, False):
        assert client_of(engineer).post(page, {"act": "baseline"}).status_code == 302
        run.refresh_from_db()
        assert run.baseline is expected


def test_the_api_makes_a_run_the_baseline(api_of, engineer, collection, snapshot):
    run = collection.runs.get(name="bm25")
    address = f"/api/v1/collections/shop/runs/{run.uuid}/"
    client = api_of(engineer)
    body = client.patch(address, {"baseline": True}, format="json")
    assert (body.status_code, body.json()["baseline"]) == (200, True)
    assert client.patch(address, {}, format="json").status_code == 400
    assert client.patch(address, {"baseline": False}, format="json").json()["baseline"] is False


def test_each_run_is_compared_with_the_baseline_as_the_command_compares_it(snapshot, scored):
    rows = leaderboard.rows(scored, "AP")
    result = leaderboard.compared(rows)
    assert (result.reference, result.baseline, result.pairs) == ("neural", True, 2)
    ranked = [runs.ranked(one.run) for one in scored]
    theirs = compare_runs(snapshot.qrels(), ranked, "AP", baseline="neural")
    for pair in theirs.pairs:
        ours = result.against[pair.b]
        assert (ours.difference, ours.low, ours.high, ours.p) == (
            pytest.approx(pair.effect.difference),
            pair.low,
            pair.high,
            pair.p_corrected,
        )
        significant = pair.p_corrected < 0.05
        assert result.in_words(pair.b).startswith(
            "not" if not significant else "better" if ours.difference > 0 else "worse"
        )
    assert result.in_words("neural") == "baseline"


def test_leaderboard_comparison_and_gate_start_from_the_baseline(scored, client_of, engineer, collection):
    client = client_of(engineer)
    context = client.get(PAGE, {"metric": "AP"}).context
    verdicts = {line.row.name: line.verdict for line in context["lines"]}
    assert verdicts["neural"] == "baseline"
    assert "--baseline neural.run" in context["gate_command"]
    assert context["best"][-1].run.name == "neural"
    comparison = client.get(f"{PAGE}compare/").context["comparison"]
    assert comparison.a.run.name == "neural"
    other = collection.runs.get(name="neural")
    assert client.get(f"{PAGE}compare/", {"b": str(other.uuid)}).context["comparison"].b.run == other


def test_the_api_answers_each_run_against_the_baseline(scored, api_of, engineer):
    (entry,) = api_of(engineer).get("/api/v1/collections/shop/scores/").json()["results"]
    against = entry["against_baseline"]
    assert (against["baseline"], set(against["runs"])) == ("neural", {"bm25", "third"})
    assert set(entry["groups"]["letters"]) == {"bm25", "neural", "third"}


def test_a_new_run_is_scored_by_a_job_as_runs_were_scored_last(
    stage, snapshot, collection, engineer, django_capture_on_commit_callbacks
):
    scoring.score_runs(snapshot, list(collection.runs.all()), actor=engineer, metrics=["P@1", "AP"])
    with django_capture_on_commit_callbacks(execute=True):
        stage.run("new", "3102")
    job = Job.objects.get(kind="score")
    assert job.state == Job.State.DONE
    result = Scoring.objects.get(run__name="new")
    assert set(stored_scores.metrics_of([result])) == {"P@1", "AP"}


def test_without_a_snapshot_a_new_run_starts_no_job(stage, django_capture_on_commit_callbacks):
    stage.queries()
    with django_capture_on_commit_callbacks(execute=True):
        stage.run("new", "3102")
    assert not Job.objects.exists()


def test_a_list_without_ranks_is_not_warned_about_ranks(api_of, engineer, stage, collection):
    stage.queries()
    rows = [{"query_id": "q00", "doc_id": f"d{n}", "score": float(n % 2)} for n in range(4)]
    answer = api_of(engineer).post("/api/v1/collections/shop/runs/?name=listed", rows, format="json")
    assert answer.status_code == 201, answer.content
    assert [one for one in answer.json()["report"]["problems"] if "rank" in json.dumps(one)] == []
    assert collection.runs.get().health["rows with a rank"] == 0
