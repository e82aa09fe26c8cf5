"""Tests of the example of design.md section 0, step by step."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from assay.cli import main
from evaluation.scoring import scoring
from judgments.agreement import agreement_summary, conflicts
from judgments.guidelines import guidelines
from judgments.labels import round_labels
from judgments.models import Round, Snapshot
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from pooling.models import Run
from pooling.pools import pools
from tests import worked_example as example
from tests.cached_rows import cached_fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
@cached_fixture
def stored(collection: Any, store_file: Callable[..., Any]) -> Any:
    """The collection with query, documents and both runs."""
    store_file("queries", f"query_id,query\n{','.join(example.QUERY)}\n")
    lines = [json.dumps({"doc_id": doc_id, "title": doc_id.upper()}) for doc_id in example.DOCUMENTS]
    store_file("documents", "\n".join(lines) + "\n")
    store_file("runs", example.BM25, "bm25.run")
    store_file("runs", example.NEURAL, "neural.run")
    return collection


@pytest.fixture
def rated(stored: Any, lead: Any, rater: Any, rater2: Any) -> Round:
    """The depth-3 pool as a round that both raters have graded."""
    pool = pools.draw_pool(stored, strategy="depth", runs=list(stored.runs.all()), parameters={"depth": 3}, actor=lead)
    version = guidelines.add_version(stored, markdown="Grade 0 to 3.", actor=lead)
    made = pools.make_round(pool, actor=lead, name="Round 1", guidelines=version, raters=[rater, rater2])
    made = rounds.open_round(made, actor=lead)
    names = round_labels.pseudonyms(made)
    for user in (rater, rater2):
        grades = example.GRADES[names[user.pk]]
        for pair in assignment.claim_batch(made, rater=user, size=10):
            answer = submission.Answer(uuid.uuid4(), pair.uuid, grades[pair.document.doc_id])
            submission.submit(made, answer, rater=user)
    return made


@pytest.fixture
def frozen(rated: Round, lead: Any) -> Snapshot:
    return snapshots.freeze(rated.collection, name="one", rounds=[rated], rule="median", actor=lead)


def test_the_depth_3_pool_holds_five_documents_with_their_runs(rated: Round) -> None:
    runs = {pair.document.doc_id: pair.origin["runs"] for pair in rated.pairs.select_related("document")}
    assert runs == {
        "d1": {"bm25": 1, "neural": 2},
        "d2": {"bm25": 3},  # tied with d3: the pool takes them in trec_eval's order, as metrics do
        "d3": {"bm25": 2},
        "d4": {"neural": 1},
        "d5": {"neural": 3},
    }


def test_agreement_is_kappa_and_alpha_with_n(rated: Round) -> None:
    agreement = agreement_summary.agreement(rated)
    assert (agreement["raters"], agreement["pairs"], agreement["overlap"]) == (2, 5, 5)
    (pair,) = agreement["cohen"]
    assert pair["n"] == 5
    assert pair["unweighted"] == pytest.approx(example.KAPPA, abs=5e-5)
    assert pair["quadratic"] == pytest.approx(example.KAPPA_QUADRATIC, abs=5e-5)
    assert agreement["alpha"]["ordinal"]["value"] == pytest.approx(example.ALPHA_ORDINAL, abs=5e-5)


def test_the_interval_says_how_little_five_pairs_prove(rated: Round) -> None:
    ordinal = agreement_summary.agreement(rated)["alpha"]["ordinal"]
    assert ordinal["low"] is None or ordinal["high"] - ordinal["low"] > 0.2


def test_d3_is_a_conflict_of_one_step(rated: Round, lead: Any) -> None:
    (pair,) = conflicts.in_conflict(rated, viewer=lead)
    assert (pair.document.doc_id, pair.spread) == ("d3", 1)


def test_the_lower_median_decides_the_labels(frozen: Snapshot) -> None:
    assert snapshots.export(frozen, "trec-qrels")[1].decode() == example.QRELS


def test_the_judgment_list_holds_the_same(frozen: Snapshot) -> None:
    listed = json.loads(snapshots.export(frozen, "judgment-list")[1])
    ratings = [{"doc_id": doc_id, "rating": grade} for doc_id, grade in example.LABELS.items()]
    assert listed == [{"query_id": "q1", "query": "rain jacket", "ratings": ratings}]


@pytest.fixture
def files(frozen: Snapshot, tmp_path: Any) -> Callable[[str, str], str]:
    """The exported qrels and a run as files, for the command line."""

    def write(name: str, content: str) -> str:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return str(path)

    write("qrels.txt", snapshots.export(frozen, "trec-qrels")[1].decode())
    return write


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["evaluate", *arguments, "--format", "json"]) == 0
    return {run["name"]: run for run in json.loads(capsys.readouterr().out)["runs"]}


def test_ndcg_at_3_is_the_same_on_the_page_and_on_the_command_line(
    frozen: Snapshot, files: Any, lead: Any, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = list(Run.objects.order_by("name"))
    stored = scoring.score_runs(frozen, runs, actor=lead, metrics=["nDCG@3", "RR@3", "Judged@3"])
    pages = {scoring_.run.name: {score.metric: score.mean for score in scoring_.scores.all()} for scoring_ in stored}
    arguments = [str(tmp_path / "qrels.txt"), files("bm25.run", example.BM25), files("neural.run", example.NEURAL)]
    shell = command(capsys, *arguments, "-m", "nDCG@3", "-m", "RR@3 Judged@3")
    for name, expected in example.NDCG_AT_3.items():
        assert pages[name]["nDCG@3"] == pytest.approx(expected, abs=5e-5)
        assert {metric: shell[name]["metrics"][metric]["mean"] for metric in pages[name]} == pages[name]
        assert pages[name]["RR@3"] == 1.0


def test_a_new_run_shows_a_hole(files: Any, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run = files("newcomer.run", example.NEWCOMER)
    shell = command(capsys, str(tmp_path / "qrels.txt"), run, "-m", "Judged@3")
    assert shell["newcomer"]["metrics"]["Judged@3"]["mean"] == pytest.approx(2 / 3)


def test_the_hole_goes_into_the_next_pool(rated: Round, lead: Any, store_file: Callable[..., Any]) -> None:
    store_file("runs", example.NEWCOMER, "newcomer.run")
    newcomer = rated.collection.runs.get(name="newcomer")
    pool = pools.draw_pool(
        rated.collection,
        strategy="depth",
        runs=[newcomer],
        parameters={"depth": 3},
        leave_out_judged=True,
        actor=lead,
    )
    assert [entry.document.doc_id for entry in pool.entries.select_related("document")] == ["d9"]
