"""Tests of the score pages: sort, score, download and undefined values."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils import timezone

from assay.scoring.score_files import WRITERS
from evaluation.freshness import freshness
from evaluation.scoring import scoring, stored_scores
from judgments.models import Document, Job
from judgments.rounds import rounds
from tests.evaluation.stage import by_digit
from tests.judgments.charts.vega_lite import layers_of

pytestmark = pytest.mark.django_db
PAGE = "/c/shop/scores/"


@pytest.fixture
def get(client_of, engineer):
    return lambda address="", **more: client_of(engineer).get(PAGE + address, **more)


def test_before_a_snapshot(collection, get):
    assert "No snapshot yet" in get().content.decode()


def test_before_a_run(without_runs, get):
    assert "No runs to score" in get().content.decode()


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


def test_an_undefined_interval_has_a_reason(stage, collection, engineer, get):
    stage.systems(2)
    round_ = stage.round()
    stage.graded(round_, lambda pair, place: 1)
    scoring.score_runs(stage.frozen(round_), list(collection.runs.all()), actor=engineer)
    assert "none: fewer than 10 queries" in get().content.decode()


@pytest.mark.parametrize("kind", ["csv", "json", "latex", "trec"])
def test_files_are_those_of_the_command(scored, snapshot, get, kind):
    response = get(f"?format={kind}")
    report = stored_scores.report_of(snapshot, stored_scores.scorings_of(snapshot, per_query=True))
    # A file that is sent on tells as well how far its labels can still be trusted.
    report = replace(report, settings={**report.settings, "freshness": freshness.look(snapshot).as_json()})
    assert response.content.decode() == WRITERS[kind](report)
    assert response.headers["Content-Disposition"].startswith('attachment; filename="shop-first-scores.')


def test_how_far_holes_could_move_a_mean(scored, get):
    """Each run returns four documents for each query, one of them unjudged: P@10 is 0.1 higher where it is relevant."""
    lines = get("?metric=P@10").context["lines"]
    for line in lines:
        assert line.bounds["low"] == pytest.approx(line.row.mean)
        assert line.bounds["high"] == pytest.approx(line.row.mean + 0.1)
    assert "lowest and highest mean P@10" in get("?metric=P@10").content.decode()


def test_invalid_file_requests(scored, get):
    rows = list(csv.DictReader(get("?format=trust.csv").getvalue().decode().splitlines()))
    assert [(row["run"], row["rows"], row["Judged@10"], row["holes@10"]) for row in rows] == [
        ("bm25", "48", "0.75", "12"),
        ("neural", "48", "0.75", "12"),
    ]


def test_picture_and_means_alone(scored, get):
    picture = get("?format=svg&metric=AP")
    assert picture.headers["Content-Type"] == "image/svg+xml"
    assert b"bm25" in picture.content
    rows = list(csv.DictReader(get("?format=csv&queries=none").content.decode().splitlines()))
    assert {(row["run"], row["query_id"]) for row in rows} == {("bm25", "all"), ("neural", "all")}
    points = layers_of(get("?format=vl.json&metric=AP"))[1]
    assert _numbers(points) == _numbers([row for row in rows if row["metric"] == "AP"])
    assert len(points) == 2


def _numbers(rows):
    """Runs with values and intervals of a file, unrounded."""
    cells = ((row["run"], row["value"], row["low"], row["high"]) for row in rows)
    return {tuple("" if cell is None else str(cell) for cell in row) for row in cells}


def test_counts_are_shown_as_counts(scored, get, collection, engineer, client_of):
    snapshot = scored[0].snapshot
    scoring.score_runs(snapshot, list(collection.runs.all()), actor=engineer, metrics=["NumRet", "NumRelRet"])
    client = client_of(engineer)
    rows = re.findall(r'<td class="num"><b>([^<]*)</b>', get("?metric=NumRet").content.decode())
    assert rows == ["48", "48"]
    page = client.get(f"/c/{collection.slug}/scores/{scored[0].uuid}/").content.decode()
    assert re.search(r"<dt>NumRet</dt>\s*<dd>\s*48\s*</dd>", page)
    assert re.search(r'<td class="num">4</td>', page)
    compared = client.get(f"/c/{collection.slug}/scores/compare/?metric=NumRet").content.decode()
    assert re.search(r'data-sign="same">0</span>', compared)
    assert "4.000" not in page + compared


def test_without_a_baseline_runs_are_compared_with_the_best_in_words(scored, get):
    first, second = get().context["lines"]
    assert first.verdict == "highest mean"
    assert re.fullmatch(r"worse than bm25 \(p [=<] 0\.\d+\)", second.verdict)


def test_by_tier_and_by_traffic(stage, collection, engineer, get):
    stage.systems()
    collection.queries.update(tier="tail", weight=1.0, probability=0.5)
    collection.queries.filter(query_id="q00").update(tier="head")
    round_ = stage.round()
    stage.graded(round_, by_digit)
    snapshot = stage.frozen(round_)
    scoring.score_runs(snapshot, list(collection.runs.all()), actor=engineer)
    html = get("?weight=traffic").content.decode()
    assert "Leaderboard, nDCG@10, weighted by traffic" in html
    assert "Weighting by traffic leaves an effective sample size of 12.0 of 12 queries." in html
    assert "head, 1 query" in html
    assert "Head: fewer than 10 queries" in html
    assert b"tail, 11 queries" in get("?format=tiers.svg").content
    points = layers_of(get("?format=tiers.vl.json"))[1]
    assert {row["tier"] for row in points} == {"head, 1 query", "tail, 11 queries"}
    rows = list(csv.DictReader(get("?format=csv&queries=none").content.decode().splitlines()))
    tail = [row for row in rows if (row["metric"], row["tier"], row["query_id"]) == ("nDCG@10", "tail", "all")]
    assert _numbers([row for row in points if row["tier"].startswith("tail")]) == _numbers(tail)


def test_many_runs(stage, snapshot, collection, engineer, get, monkeypatch):
    stage.run("third", "2310")
    monkeypatch.setattr("evaluation.scoring.views.scores.MOST_LINES", 2)
    scoring.score_runs(snapshot, list(collection.runs.all()), actor=engineer, metrics=["P@1"])
    html = get().content.decode()
    assert "1 more run has lower scores." in html
    assert ">third</a>" not in html
    assert ">third</a>" in get("?runs=all").content.decode()


def test_one_run(snapshot, collection, engineer, get):
    scoring.score_runs(snapshot, [collection.runs.get(name="bm25")], actor=engineer)
    html = get().content.decode()
    assert "1 run scored on" in html
    assert "“Better” and “worse” mean" not in html
    assert "1 run not scored on first" in html


def test_a_job_under_way_and_one_that_failed(scored, snapshot, collection, engineer, get):
    job = scoring.score_later(snapshot, list(collection.runs.all()), actor=engineer, metrics=["AP"])
    Job.objects.filter(pk=job.pk).update(state="running", done=1, total=2)
    assert "1 of 2 runs scored." in get().content.decode()
    Job.objects.filter(pk=job.pk).update(state="failed", error="It went wrong.", finished_at=timezone.now())
    assert "It went wrong." in get().content.decode()


def test_raters_see_no_scores_of_their_open_queries(stage, snapshot, scored, client_of, lead):
    """The numbers that the lead is shown are over the queries that are not theirs to grade, in every form."""
    stage.queries(13)  # one more query, which is the whole of the new round
    rounds.invite(stage.round(name="Round 2", pairs=[("q01", "d0")], raters=1), [lead], actor=lead)
    client = client_of(lead)
    html = client.get(PAGE).content.decode()
    assert "1 query is hidden because" in html
    data = json.loads(client.get(PAGE + "?format=json").content)
    for run in data["runs"]:
        assert "q01" not in run["per_query"]
        values = [result["nDCG@10"] for result in run["per_query"].values()]
        assert run["metrics"]["nDCG@10"]["mean"] == pytest.approx(sum(values) / 11)
    page = client.get(f"{PAGE}{scored[0].uuid}/").content.decode()
    assert "query 1<" not in page
    assert "1 query is hidden because" in page
    history = json.loads(client.get(PAGE + "history/?format=json").content)
    assert {run["queries"] for run in history["snapshots"][0]["runs"]} == {11}


def test_queries_of_a_run(scored, get):
    response = get(f"{scored[0].uuid}/?sort=-AP&q=query+1")
    assert response.context["listing"].count == 3
    assert reverse("scores_query", args=["shop"]) in response.content.decode()
    file = get(f"{scored[0].uuid}/?format=csv").getvalue().decode()
    assert file.startswith("query,nDCG@10,RR@10,R@100,P@10,AP,Judged@10,query_id")


def test_query_side_by_side(scored, snapshot, get):
    response = get(f"query/?snapshot={snapshot.uuid}&query=q00&depth=20")
    answers = response.context["answers"]
    assert [[place.grade for place in ranking.places] for ranking in answers.rankings] == [
        [3, 2, 0, None],
        [2, 3, 0, None],
    ]
    # Two in the lists, the same two in the table of grades.
    assert response.content.decode().count('data-grade="hole"') == 4


def test_relevant_document_that_no_run_returns(scored, snapshot, get):
    answers = get(f"query/?snapshot={snapshot.uuid}&query=q01&depth=1").context["answers"]
    assert [(place.doc_id, place.grade) for place in answers.missed] == [("d2", 1), ("d4", 1)]


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("address", "status"), [("query/", 302), ("query/?query=nosuch", 404), ("query/?query=%00", 404)]
)
def test_query_that_is_not_there(scored, get, address, status):
    assert get(address).status_code == status


def test_title_of_a_document_stays_text(scored, get):
    Document.objects.filter(doc_id="d0").update(title="<script>alert(1)</script>")
    assert "<script>alert" not in get("query/?query=q00").content.decode()


def test_leads_who_still_rate_do_not_see_the_grade(stage, snapshot, scored, client_of, lead):
    rounds.invite(stage.round(name="Round 2"), [lead], actor=lead)
    response = client_of(lead).get(PAGE + f"query/?snapshot={snapshot.uuid}&query=q01&depth=1")
    answers = response.context["answers"]
    assert [(place.grade, place.hidden) for ranking in answers.rankings for place in ranking.places] == [
        (None, True)
    ] * 2
    assert answers.missed == []
    assert "yours to grade" in response.content.decode()


def test_many_metrics_are_chosen_from_a_list(snapshot, collection, engineer, get):
    """Six stand beside the one in question; a row of links would go on beyond the page."""
    names = [f"P@{cutoff}" for cutoff in range(1, 13)]
    scoring.score_runs(snapshot, list(collection.runs.all()), actor=engineer, metrics=names)
    response = get("?metric=P@3")
    html = response.content.decode()
    assert response.context["beside"] == ["P@10", "P@1", "P@11", "P@12", "P@2", "P@4"]
    assert "5 more metrics are scored" in html
    assert "<option selected>P@3</option>" in html
    assert 'aria-label="Metric"' not in html


def test_a_range_of_rounding_is_no_range(scored, get):
    for one in scored:
        value = one.scores.get(metric="AP").mean
        one.diagnostics["bounds"]["AP"] = {"low": value, "high": value + 1e-15}
        one.save()
    assert [line.bounds for line in get("?metric=AP").context["lines"]] == [None, None]
