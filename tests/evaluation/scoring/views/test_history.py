"""Tests of score history: snapshots in order with their changes, on the page, in files and in the API."""

from __future__ import annotations

import csv
import json

import pytest

from evaluation.scoring import history, scoring
from evaluation.scoring.views.history import versions
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from tests.cached_rows import cached_fixture
from tests.evaluation.stage import by_digit
from tests.judgments.charts.vega_lite import layers_of

pytestmark = pytest.mark.django_db
PAGE = "/c/shop/scores/history/"
API = "/api/v1/collections/shop/scores/history/"


@pytest.fixture
@cached_fixture
def two(stage, collection, lead, engineer):
    """A second round over one more run's documents, where d4 of every query counts 3 now; both snapshots are scored."""
    first = stage.whole_way()
    scoring.score_runs(first, list(collection.runs.all()), actor=engineer)
    stage.run("neural-v2", "4510")
    round_ = stage.round(runs=3, name="Round 2")
    stage.graded(round_, lambda pair, place: 3 if pair.document.doc_id == "d4" else by_digit(pair, place))
    closed = rounds.close_round(round_, actor=lead)
    second = snapshots.freeze(collection, name="second", rounds=[closed], rule="majority", actor=lead)
    scoring.score_runs(second, list(collection.runs.all()), actor=engineer)
    return first, second


@pytest.fixture
def get(client_of, engineer):
    return lambda address="", **more: client_of(engineer).get(PAGE + address, **more)


def test_nothing_scored(collection, get):
    assert "No scores" in get().content.decode()


def test_a_snapshot_on_which_nothing_was_scored_offers_no_empty_choice(snapshot, get):
    html = get().content.decode()
    assert "No scores" in html
    assert '<h1 dir="auto">Scores over time</h1>' in html
    assert 'id="metric"' not in html


def test_one_snapshot(snapshot, collection, engineer, get):
    scoring.score_runs(snapshot, list(collection.runs.all()), actor=engineer)
    html = get().content.decode()
    assert "There is only one snapshot." in html
    assert "the first snapshot" in html


def test_changes_are_counted_by_pair(two):
    """The first round judged d0, d1, d2 and d4 of twelve queries, the second d5 too; d4 was 0 or 1, and is 3."""
    result = history.change(*two)
    assert (result.labels_added, result.labels_removed, result.labels_changed) == (12, 0, 12)
    assert (result.queries_added, result.queries_removed) == (0, 0)
    assert (result.rounds_added, result.rounds_removed) == (("Round 2",), ("Round 1",))
    assert result.rule == ("median", "majority")
    assert result.sentences[:3] == ["12 labels added", "12 labels changed", "rule median → majority"]
    back = history.change(*reversed(two))
    assert (back.labels_added, back.labels_removed, back.labels_changed) == (0, 12, 12)
    assert history.change(two[0], two[0]).sentences == ["The labels are the same."]


def test_page_files_and_api_tell_the_same(two, collection, get, engineer, api_of):
    html = get("?metric=P@10").content.decode()
    assert html.index(">second</a>") < html.index(">first</a>")  # the newest row first
    assert "12 labels added; 12 labels changed" in html
    data = json.loads(get("?metric=P@10&format=json").content)
    assert api_of(engineer).get(API + "?metric=P@10").json() == data
    assert [one["name"] for one in data["snapshots"]] == ["first", "second"]
    assert data["snapshots"][0]["change"] is None
    assert data["snapshots"][1]["change"]["rule"] == ["median", "majority"]
    (means,) = [
        {run["name"]: run["mean"] for run in one["runs"]} for one in data["snapshots"] if one["name"] == "second"
    ]
    stored = {one.run.name: one.scores.get(metric="P@10").mean for one in two[1].scorings.all()}
    assert means == stored
    rows = list(csv.DictReader(get("?metric=P@10&format=csv").getvalue().decode().splitlines()))
    assert {(row["snapshot"], row["run"]) for row in rows} >= {("first", "bm25"), ("second", "neural-v2")}
    assert len(rows) == 5
    assert get("?format=svg").headers["Content-Type"] == "image/svg+xml"
    points = layers_of(get("?metric=P@10&format=vl.json"))[0]
    shown = {(row["snapshot"], row["run"], str(row["mean"])) for row in points if "mean" in row}
    assert shown == {(row["snapshot"], row["run"], row["mean"]) for row in rows}
    assert len(points) == 6  # a run has no scores on the first snapshot


def test_one_run_and_its_versions(two, collection, get, engineer, api_of):
    run = collection.runs.get(name="neural-v2")
    html = get(f"?run={run.uuid}").content.decode()
    assert "Versions of neural-v2, on second" in html
    body = api_of(engineer).get(API + "?run=neural-v2").json()
    assert [[one["name"] for one in row["runs"]] for row in body["snapshots"]] == [[], ["neural-v2"]]
    scores = {one.run.name: one.scores.get(metric="P@10") for one in two[1].scorings.all()}
    result = versions(run, two[1], scores)
    assert [one.run.name for one in result] == ["neural", "neural-v2"]
    # They share d0, d1, d4 and d5: all four that each returns.
    assert [one.overlap for one in result] == [None, 1.0]
    assert result[1].against.difference == pytest.approx(scores["neural-v2"].mean - scores["neural"].mean)
    assert versions(collection.runs.get(name="bm25"), two[1], scores) == []
    assert "No other version" in get("?run=bm25").content.decode()


def test_more_snapshots_than_are_shown(two, collection, get, monkeypatch):
    monkeypatch.setattr("evaluation.scoring.views.history.MOST_SNAPSHOTS", 1)
    html = get().content.decode()
    assert "1 older snapshot is not shown." in html
    assert "12 labels added" in html  # what changed since the one that is not shown


@pytest.mark.parametrize(("address", "status"), [("?run=nosuch", 404), ("?metric=nosuch", 200)])
def test_missing_snapshots(two, get, address, status):
    assert get(address).status_code == status


def test_the_api_names_the_metrics_that_there_are(two, engineer, api_of):
    response = api_of(engineer).get(API + "?metric=nosuch")
    assert (response.status_code, set(response.json()["error"]["fields"])) == (400, {"metric"})
    assert "nDCG@10" in response.json()["error"]["message"]
