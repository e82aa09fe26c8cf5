"""Are scores on a page those of the files, and is what a reader should know said?"""

from __future__ import annotations

import json

import pytest

from evaluation import evaluate, leaderboard, scoring
from evaluation.comparison import compare
from evaluation.significance.compare import compare as compare_runs
from judgments import snapshots
from judgments.core.errors import NotValid
from judgments.formats.trec_qrels import load_qrels
from judgments.models import AuditRow, Query
from pooling import runs as runs_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def snapshot(stage):
    return stage.whole_way()


@pytest.fixture
def scored(snapshot, collection, engineer):
    return scoring.score_runs(snapshot, list(collection.runs.order_by("name")), actor=engineer)


def test_numbers_are_those_of_the_exported_file(snapshot, scored):
    qrels = load_qrels(snapshots.export(snapshot, "trec-qrels")[1], path="qrels.txt")
    for one in scored:
        expected = evaluate(qrels, runs_of.ranked(one.run)).runs[0].metrics
        assert {score.metric: score.mean for score in one.scores.all()} == {
            name: summary.mean for name, summary in expected.items()
        }


def test_json_is_that_of_the_command(snapshot, scored):
    plain = json.loads(json.dumps(scoring.as_json(snapshot, scored)))
    assert plain["qrels"]["sha256"] == snapshot.manifest["files"][2]["sha256"] or plain["qrels"]["path"] == "qrels.txt"
    assert [run["name"] for run in plain["runs"]] == ["bm25", "neural"]
    assert set(plain["runs"][0]["metrics"]["nDCG@10"]) == {"mean", "queries", "low", "high", "weighted"}
    assert plain["runs"][0]["per_query"]["q00"]["nDCG@10"] == pytest.approx(1.0)


def test_scoring_again_adds_metrics_and_no_second_row(snapshot, collection, scored, engineer):
    scoring.score_runs(snapshot, [scored[0].run], actor=engineer, metrics=["P@1"])
    assert collection.scorings.count() == 2
    assert "P@1" in leaderboard.metrics([collection.scorings.get(pk=scored[0].pk)])


def test_act_is_on_record(scored, collection):
    assert AuditRow.objects.filter(collection=collection).first().sentence == "emil scored bm25, neural on first"


@pytest.mark.parametrize("names", [["nosuch"], ["nDCG"], ["hits@10"]])
def test_unknown_metric_stores_nothing(snapshot, collection, engineer, names):
    if names == ["nDCG"]:
        assert scoring.score_runs(snapshot, list(collection.runs.all()), actor=engineer, metrics=names)
        return
    with pytest.raises(NotValid):
        scoring.score_runs(snapshot, list(collection.runs.all()), actor=engineer, metrics=names)
    assert not collection.scorings.exists()


def test_no_run(snapshot, engineer):
    with pytest.raises(NotValid):
        scoring.score_runs(snapshot, [], actor=engineer)


def test_leaderboard_has_the_best_first(scored):
    rows = leaderboard.rows(scored, "nDCG@10")
    assert [row.name for row in rows] == ["bm25", "neural"]
    assert rows[0].mean > rows[1].mean


def test_cautions_name_runs_and_numbers(scored):
    said = " ".join(leaderboard.cautions(leaderboard.rows(scored, "nDCG@10")))
    assert "Unjudged among the first ten: bm25 25 %, neural 25 %." in said


def test_by_tier(scored, collection):
    assert leaderboard.by_tier(leaderboard.rows(scored, "P@10"), "P@10") == {}
    Query.objects.filter(query_id__in=["q00", "q01"]).update(tier="head")
    Query.objects.exclude(tier="head").update(tier="tail")
    found = leaderboard.by_tier(leaderboard.rows(scored, "P@10"), "P@10")["bm25"]
    assert [(one.tier, one.queries, one.low is None) for one in found] == [("head", 2, True), ("tail", 10, False)]


def test_comparison_pairs_queries(scored):
    bm25, neural = scored
    found = compare(neural, bm25, "nDCG@10")
    means = [score.mean for one in (bm25, neural) for score in one.scores.all() if score.metric == "nDCG@10"]
    assert found.mean == pytest.approx(means[0] - means[1])
    assert (found.count("better"), found.count("equal"), found.count("worse")) == (12, 0, 0)
    assert found.decided
    assert found.low <= found.mean <= found.high


def test_comparison_is_that_of_the_command(snapshot, scored):
    bm25, neural = scored
    found = compare(neural, bm25, "AP")
    ranked = [runs_of.ranked(one.run) for one in (neural, bm25)]
    (theirs,) = compare_runs(scoring.labels(snapshot), ranked, "AP").pairs
    assert (found.mean, found.low, found.high) == (theirs.effect.difference, theirs.low, theirs.high)
    assert found.count("better") == theirs.effect.wins
    assert found.count("equal") == theirs.effect.ties


def test_comparison_with_itself_is_all_ties(scored):
    found = compare(scored[0], scored[0], "AP")
    assert (found.mean, found.low, found.high, found.count("equal")) == (0.0, 0.0, 0.0, 12)
    assert not found.decided


def test_comparison_needs_the_metric_under_both(scored):
    with pytest.raises(NotValid, match="was not scored with P@3"):
        compare(*scored, "P@3")
