"""Tests of scoring: same scores as the files, with cautions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.utils import timezone
from scipy import stats

from assay.cli import main
from assay.core.errors import NotValid
from assay.formats.trec_qrels import load_qrels
from assay.significance.compare import compare as compare_runs
from evaluation import evaluate
from evaluation.models import Score
from evaluation.scoring import leaderboard, scoring, stored_scores
from evaluation.scoring.scoring import drawn as drawn_design
from judgments.jobs import jobs
from judgments.models import AuditRow, Job, Query
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from pooling.runs import runs as stored_runs
from tests.cached_rows import cached_fixture
from tests.evaluation.stage import by_digit
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def test_numbers_are_those_of_the_exported_file(snapshot, scored):
    qrels = load_qrels(snapshots.export(snapshot, "trec-qrels")[1], path="qrels.txt")
    for one in scored:
        expected = evaluate(qrels, stored_runs.ranked(one.run)).runs[0].metrics
        assert {score.metric: score.mean for score in one.scores.all()} == {
            name: summary.mean for name, summary in expected.items()
        }


def test_json_is_that_of_the_command(snapshot, scored):
    plain = json.loads(json.dumps(stored_scores.as_json(snapshot, scored)))
    assert plain["qrels"]["sha256"] == snapshot.manifest["files"][2]["sha256"] or plain["qrels"]["path"] == "qrels.txt"
    assert [run["name"] for run in plain["runs"]] == ["bm25", "neural"]
    assert set(plain["runs"][0]["metrics"]["nDCG@10"]) == {"mean", "queries", "low", "high", "weighted"}
    assert plain["runs"][0]["per_query"]["q00"]["nDCG@10"] == pytest.approx(1.0)


def test_scoring_again_adds_metrics_and_no_second_row(snapshot, collection, scored, engineer):
    scoring.score_runs(snapshot, [scored[0].run], actor=engineer, metrics=["P@1"])
    assert collection.scorings.count() == 2
    again = collection.scorings.get(pk=scored[0].pk)
    assert "P@1" in leaderboard.metrics([again])
    assert "nDCG@10" in again.diagnostics["bounds"]


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
    text = " ".join(leaderboard.cautions(leaderboard.rows(scored, "nDCG@10")))
    assert "Unjudged documents in the first 10: bm25 25%, neural 25%." in text


def test_ranks_that_contradict_scores_are_reported_and_ignored(stage, snapshot, collection, engineer):
    stage.store(
        "runs", "".join(f"q{n:02d} Q0 d{d} {9 - d} {9 - d}.5 x\n" for n in range(12) for d in (0, 1)), "odd.run"
    )
    scored = scoring.score_runs(snapshot, list(collection.runs.filter(name="odd")), actor=engineer, metrics=["nDCG@10"])
    assert scored[0].diagnostics["ranks_contradicted"] == 12
    assert any(
        "contradicts their score: " in text for text in leaderboard.cautions(leaderboard.rows(scored, "nDCG@10"))
    )


def test_without_tiers_and_weights_nothing_is_made_up(scored):
    rows = leaderboard.rows(scored, "P@10")
    assert leaderboard.by_tier(rows) is None
    can, text = leaderboard.weighting(rows)
    assert not can
    assert text.startswith("A mean weighted by traffic is not available: the queries have no weight")
    assert rows[0].score.weighted is None


@pytest.fixture
@cached_fixture
def drawn(stage):
    """Odd queries are of the tail: traffic 3, drawn with chance 1/2; even ones of the head: traffic 1, chance 1/4."""
    stage.systems()
    odd = Query.objects.filter(query_id__in=[f"q{n:02d}" for n in range(1, 12, 2)])
    odd.update(tier="tail", weight=3.0, probability=0.5)
    Query.objects.filter(tier="").update(tier="head", weight=1.0, probability=0.25)
    round_ = stage.round()
    stage.run("third", "2310")  # its first document is relevant where the query's number is odd
    stage.run("fourth", "5310")  # its first document was never judged
    stage.graded(round_, by_digit)
    return stage.frozen(rounds.close_round(round_, actor=stage.lead))


def test_traffic_and_tiers_come_from_the_frozen_queries(drawn, collection, engineer):
    Query.objects.update(weight=7.0, tier="torso")  # too late: the snapshot holds them as they were
    third = collection.runs.get(name="third")
    (scored,) = scoring.score_runs(drawn, [third], actor=engineer, metrics=["P@1"])
    score = scored.scores.get()
    # w/p is 6 for the six odd queries, which have P@1 = 1, and 4 for the six even ones, which have 0.
    assert (score.mean, score.weighted) == (0.5, pytest.approx(0.6))
    assert score.effective_queries == pytest.approx(60**2 / (6 * 36 + 6 * 16))
    tiers = leaderboard.by_tier(leaderboard.rows([scored], "P@1"))
    assert tiers.heads == [("head", 6), ("tail", 6)]
    assert [(one.mean, one.low, one.reason) for one in tiers.runs["third"]] == [
        (0.0, None, "fewer than 10 queries"),
        (1.0, None, "fewer than 10 queries"),
    ]


def test_page_and_command_agree_on_weights_and_tiers(drawn, collection, engineer, tmp_path, capsys):
    """What the exported files give on the command line is what is stored."""
    paths = [tmp_path / name for name in ("qrels.txt", "queries.csv", "third.run")]
    paths[0].write_bytes(snapshots.export(drawn, "trec-qrels")[1])
    paths[1].write_bytes(snapshots.export(drawn, "queries-csv")[1])
    third = collection.runs.get(name="third")
    paths[2].write_bytes(Path(default_storage.path(third.path)).read_bytes())
    command = ["evaluate", str(paths[0]), str(paths[2]), "-m", "P@1", "--ci", "0.95", "--format", "json"]
    assert main([*command, "--weights", str(paths[1]), "--by", "tier"]) == 0
    (theirs,) = json.loads(capsys.readouterr().out)["runs"]
    (ours,) = stored_scores.as_json(drawn, scoring.score_runs(drawn, [third], actor=engineer, metrics=["P@1"]))["runs"]
    assert ours["metrics"] == theirs["metrics"]
    assert ours["by_tier"] == theirs["by_tier"]
    assert ours["per_query"] == theirs["per_query"]


def test_part_of_the_weights_is_none_at_all(drawn, collection, engineer, lead):
    Query.objects.filter(query_id="q03").update(probability=None)
    again = snapshots.freeze(collection, name="second", rounds=list(drawn.rounds.all()), actor=lead)
    result = scoring.score_runs(again, list(collection.runs.all()), actor=engineer, metrics=["P@1"])
    can, text = leaderboard.weighting(leaderboard.rows(result, "P@1"))
    assert (can, text) == (
        False,
        "A mean weighted by traffic is not available: 1 of 12 judged queries has no weight or probability.",
    )
    assert leaderboard.by_tier(leaderboard.rows(result, "P@1")).heads == [("head", 6), ("tail", 6)]


def test_letters_by_hand(drawn, collection, engineer):
    """P@1 is 1, 1, 1 on every other query, and 0; p of the sign-flip test is 2/2^(queries that differ).

    That is 2/4096 for the fourth run against the first two, 2/64 for the third against each: Holm over six pairs leaves
    the first two.
    """
    result = scoring.score_runs(drawn, list(collection.runs.all()), actor=engineer, metrics=["P@1"])
    rows = leaderboard.rows(result, "P@1")
    assert [row.name for row in rows] == ["bm25", "neural", "third", "fourth"]
    apart = leaderboard.compared(rows)
    assert apart.letters == {"bm25": "a", "neural": "a", "third": "ab", "fourth": "b"}
    assert (apart.reference, apart.queries, apart.pairs, apart.blunt) == ("bm25", 12, 6, False)
    fourth = apart.against["fourth"]
    assert (fourth.difference, fourth.wins, fourth.ties, fourth.losses) == (-1.0, 0, 0, 12)
    assert fourth.p == pytest.approx(6 * 2 / 4096)
    assert apart.against["third"].p == pytest.approx(4 * 2 / 64)


def test_letters_are_those_of_the_command(snapshot, scored):
    ranked = [stored_runs.ranked(one.run) for one in scored]
    theirs = compare_runs(snapshot.qrels(), ranked, "AP").groups("AP")
    assert leaderboard.compared(leaderboard.rows(scored, "AP")).letters == theirs


def test_by_traffic_the_test_weighs_queries_as_the_mean_does(drawn, collection, engineer):
    result = scoring.score_runs(drawn, list(collection.runs.all()), actor=engineer, metrics=["P@1"])
    rows = leaderboard.rows(result, "P@1", weighted=True)
    apart = leaderboard.compared(rows)
    assert rows[2].name == "third"
    assert apart.against["third"].difference == pytest.approx(0.6 - 1.0)
    ranked = [stored_runs.ranked(row.scoring.run) for row in rows]
    design = drawn_design(drawn, drawn.qrels().query_ids).design
    theirs = compare_runs(drawn.qrels(), ranked, "P@1", design=design)
    assert apart.letters == theirs.groups("P@1")
    (pair,) = [pair for pair in theirs.pairs if (pair.a, pair.b) == ("bm25", "third")]
    ours = apart.against["third"]
    assert (ours.low, ours.high, ours.p) == (pair.low, pair.high, pair.p_corrected)


def test_few_queries_have_no_letters(stage, collection, engineer):
    stage.systems(5)
    round_ = stage.round()
    stage.graded(round_, by_digit)
    result = scoring.score_runs(stage.frozen(round_), list(collection.runs.all()), actor=engineer)
    apart = leaderboard.compared(leaderboard.rows(result, "AP"))
    assert apart.letters == {}
    assert "fewer than 6 queries" in apart.reason
    assert apart.against["neural"].p is None
    one = leaderboard.compared(leaderboard.rows(result[:1], "AP"))
    assert (one.letters, one.reason) == ({}, "a single run cannot be compared")


def test_scored_anew_the_letters_are_made_anew(scored, snapshot, engineer):
    before = leaderboard.compared(leaderboard.rows(scored, "nDCG@10"))
    Score.objects.filter(scoring=scored[0], metric="nDCG@10").update(
        per_query={f"q{n:02d}": 0.0 for n in range(12)}, computed_at=timezone.now()
    )
    fresh = stored_scores.scorings_of(snapshot)
    after = leaderboard.compared(leaderboard.rows(fresh, "nDCG@10"))
    assert after.against["neural"].difference > 0 > before.against["neural"].difference


def test_withheld_queries_leave_no_trace_in_the_means(drawn, collection, engineer):
    scoring.score_runs(drawn, list(collection.runs.all()), actor=engineer, metrics=["P@1"])
    withheld = {"q01", "q03"}
    result = {one.run.name: one.scores.all()[0] for one in stored_scores.scorings_of(drawn, left_out=withheld)}
    third = result["third"]
    # Four of the ten queries that are left have P@1 = 1, with w/p 6; the six others weigh 4 each.
    assert (third.mean, third.queries, third.weighted) == (0.4, 10, pytest.approx(0.5))
    assert withheld.isdisjoint(third.per_query)
    assert third.by_tier["tail"]["queries"] == 4
    diagnostics = stored_scores.scorings_of(drawn, left_out=withheld)[0].diagnostics
    assert {"bounds", "ties_at", "queries_without_relevant"}.isdisjoint(diagnostics)  # each is over all queries
    assert diagnostics["rows"] == 48
    none = stored_scores.scorings_of(drawn, left_out={f"q{n:02d}" for n in range(12)})
    assert none[0].scores.all()[0].mean is None
    assert Score.objects.get(scoring__run__name="third").mean == 0.5  # what is stored stays as it is


def test_intervals_by_other_ways(scored, snapshot, engineer):
    run = scored[0].run
    values = list(scored[0].scores.get(metric="nDCG@10").per_query.values())
    (again,) = scoring.score_runs(snapshot, [run], actor=engineer, metrics=["nDCG@10"], level=0.9, method="t")
    score = again.scores.get(metric="nDCG@10")
    low, high = stats.t.interval(0.9, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))
    assert (score.low, score.high) == (pytest.approx(low), pytest.approx(high))
    assert (score.level, score.method) == (0.9, "t")
    assert again.scores.get(metric="AP").method == "percentile"
    assert scoring.used_last(snapshot.collection)["method"] == "t"


@pytest.mark.parametrize(("how", "field"), [({"level": 1.0}, "level"), ({"method": "magic"}, "method")])
def test_an_interval_that_is_none(snapshot, collection, engineer, how, field):
    with pytest.raises(NotValid) as data:
        scoring.score_runs(snapshot, list(collection.runs.all()), actor=engineer, **how)
    assert set(data.value.fields) == {field}


def test_the_job_scores_what_it_can_and_names_the_rest(
    stage, snapshot, collection, engineer, django_capture_on_commit_callbacks
):
    stage.store("runs", "other Q0 d1 1 1.0 x\n", "astray.run")
    with django_capture_on_commit_callbacks(execute=True):
        job = scoring.score_later(snapshot, list(collection.runs.all()), actor=engineer, metrics=["AP"])
    job.refresh_from_db()
    assert (job.state, job.done, job.total) == ("failed", 3, 3)
    assert job.error.startswith("1 of 3 runs could not be scored; the others were scored. astray: ")
    assert collection.scorings.count() == 2
    sentences = [row.sentence for row in AuditRow.objects.filter(verb__startswith="scoring.")]
    assert sentences == ["emil started scoring astray, bm25, neural on first"]  # once, not once a run
    assert scoring.last_job(snapshot) == job
    scoring.score_runs(snapshot, list(collection.runs.exclude(name="astray")), actor=engineer, metrics=["AP"])
    assert scoring.last_job(snapshot) is None


def test_a_job_that_begins_again_scores_only_what_is_left(snapshot, collection, engineer):
    job = scoring.score_later(snapshot, list(collection.runs.all()), actor=engineer, metrics=["AP"])
    (first,) = scoring.score_runs(snapshot, [collection.runs.get(name="bm25")], actor=engineer, metrics=["AP"])
    when = first.scores.get().computed_at
    Job.objects.filter(pk=job.pk).update(state="running", attempts=2)
    job.refresh_from_db()
    assert scoring.work_on_scores(jobs.Work(job)) == {
        "snapshot": "first",
        "runs": 2,
        "page": f"/c/shop/scores/?snapshot={snapshot.uuid}",
    }
    assert first.scores.get().computed_at == when
    assert collection.scorings.count() == 2


@pytest.mark.django_db(transaction=True)
def test_two_who_score_one_run_at_once_keep_each_others_scores(snapshot, collection, engineer):
    """Asked for the same runs in opposite order under other metrics; nobody loses a metric, and nobody a lock."""
    runs = list(collection.runs.order_by("name"))
    collection.scorings.all().delete()  # those that freezing made
    ends = at_once(
        lambda: scoring.score_runs(snapshot, runs, actor=engineer, metrics=["P@1", "P@2"]),
        lambda: scoring.score_runs(snapshot, runs[::-1], actor=engineer, metrics=["P@3", "P@2"]),
    )
    assert [len(scored) for scored in ends] == [2, 2]
    assert collection.scorings.count() == 2
    for one in collection.scorings.all():
        assert {score.metric for score in one.scores.all()} == {"P@1", "P@2", "P@3"}
        assert set(one.diagnostics["bounds"]) == {"P@1", "P@2", "P@3"}


def test_a_run_over_other_documents_is_refused_and_keeps_no_score(snapshot, stage, collection, engineer):
    """Its ids are of another kind, such as the numbers of an index: every score would be 0."""
    rows = "".join(f"q{n:02d} Q0 {n + 700} 1 9 numbers\n" for n in range(12))
    stage.store("runs", rows, "numbers.run")
    run = collection.runs.get(name="numbers")
    with pytest.raises(NotValid, match="none of the judged documents"):
        scoring.score_runs(snapshot, [run], actor=engineer)
    assert not Score.objects.filter(scoring__run=run).exists()
