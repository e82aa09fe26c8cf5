"""Tests of the unjudged share of a run: the same number everywhere."""

from __future__ import annotations

import pytest

from assay.cli.validate import run_health as figures_of_files
from assay.formats import FORMATS
from evaluation.freshness import freshness
from evaluation.scoring import leaderboard, scoring, stored_scores
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from pooling.runs import health as run_health
from pooling.runs import overlap
from tests.evaluation.stage import by_digit

pytestmark = pytest.mark.django_db

# Four queries are judged, d0 to d2 each. "partial" leaves one out, and has one unjudged document of two twice.
PARTIAL = "q00 Q0 d0 1 9 p\nq00 Q0 d7 2 8 p\nq01 Q0 d6 1 9 p\nq01 Q0 d1 2 8 p\nq02 Q0 d2 1 9 p\n"


@pytest.fixture
def frozen(stage):
    stage.queries(4)
    stage.documents()
    stage.run("bm25", "012", 4)
    round_ = stage.round(runs=1)
    stage.graded(round_, by_digit)
    snapshot = stage.frozen(rounds.close_round(round_, actor=stage.lead))
    stage.store("runs", PARTIAL, "partial.run")
    return snapshot


def test_every_page_api_and_command_tells_one_share(frozen, lead, tmp_path):
    run = frozen.collection.runs.get(name="partial")
    scoring.score_runs(frozen, [run], actor=lead)
    scored = stored_scores.scorings_of(frozen)
    qrels, rows = tmp_path / "qrels.txt", FORMATS["trec-run"].read(PARTIAL.encode(), path="partial.run").rows
    qrels.write_bytes(frozen.read_file(snapshots.FILES["trec-qrels"]))
    (row,) = [row for row in leaderboard.rows(scored, "nDCG@10") if row.name == "partial"]
    (fresh,) = [one for one in freshness.look(frozen).report.runs if one.name == "partial"]
    health = run_health.check(run)
    shares = {
        "leaderboard": stored_scores.unjudged(row.scoring),
        "freshness": fresh.mean,
        "run": health.as_json()["unjudged_at_10"],
        "snapshot": health.as_json()["newest_snapshot"]["unlabeled_at_10"],
        "runs": overlap.overlap(frozen.collection, [run]).parts[0].unjudged_share,
        "command": figures_of_files(rows, str(qrels), [])["unjudged_at_10"],
    }
    # The half of two queries and none of the third; the fourth is a missing query and no unjudged document.
    assert shares == pytest.approx(dict.fromkeys(shares, 1 / 3))
    assert row.scoring.diagnostics["queries_missing"] == 1
    assert any("33" in sentence for sentence in leaderboard.cautions([row]))
