"""Tests of comparing two snapshots: changed labels and their effect on runs."""

from __future__ import annotations

import pytest

from assay.scoring.evaluate import evaluate
from assay.significance.rank_correlation import rank_correlation
from evaluation.effects import snapshot_changes
from judgments.agreement import resolutions
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from pooling.runs import runs as stored_runs
from tests.cached_rows import cached_fixture

pytestmark = pytest.mark.django_db
PAGE = "/c/shop/snapshots/compare/"
API = "/api/v1/collections/shop/snapshots/compare/"


@pytest.fixture
@cached_fixture
def two(stage, collection, lead):
    """Eight queries; between the snapshots a lead settles two pairs otherwise, and a label is imported."""
    stage.queries(8)
    stage.documents()
    for name, order in (("bm25", "0123"), ("neural", "3210"), ("mixed", "1302")):
        stage.run(name, order, queries=8)
    round_ = stage.round(raters=2)
    stage.graded(round_, lambda pair, place: 3 if pair.document.doc_id in {"d0", "d1"} else 0)
    first = stage.frozen(round_)
    for pair in round_.pairs.filter(document__doc_id="d0", query__query_id__in=["q00", "q01"]):
        resolutions.resolve(pair, grade=0, reason="Another product.", actor=lead)
    stage.store("qrels", "q02 0 d7 2\n", "old.qrels")
    second = snapshots.freeze(collection, name="second", rounds=[round_], sources=("human", "imported"), actor=lead)
    return first, second


def test_labels_and_boards_are_those_of_the_two_files(two, client_of, engineer, collection):
    first, second = two
    body = client_of(engineer).get(API).json()
    assert (body["a"], body["b"]) == (str(first.uuid), str(second.uuid))
    assert body["labels"] == {"same": len(first.qrels()) - 2, "changed": 2, "added": 1, "gone": 0}
    cells = {(cell["old"], cell["new"]): cell["pairs"] for cell in body["confusion"]}
    assert (cells[3, 0], cells[None, 2]) == (2, 1)
    assert body["agreement"]["alpha"]["value"] < 1
    tables = [stored_runs.ranked(run) for run in collection.runs.order_by("name")]
    means = [
        {one.name: one.metrics["nDCG@10"].mean for one in evaluate(of.qrels(), tables, ["nDCG@10"], level=None).runs}
        for of in two
    ]
    board = body["leaderboard"]
    assert {row["run"]: row["before"] for row in board["runs"]} == pytest.approx(means[0])
    assert {row["run"]: row["after"] for row in board["runs"]} == pytest.approx(means[1])
    assert board["tau"] == rank_correlation(*means).tau_b


def test_the_page_lists_the_pairs_and_gives_them_as_a_file(two, client_of, engineer):
    client = client_of(engineer)
    page = client.get(PAGE).content.decode()
    assert "second vs. first" in page
    assert "Kendall’s tau" in page
    assert page.count("changed label</td>") == 2
    rows = b"".join(client.get(PAGE, {"format": "csv"}).streaming_content).decode().splitlines()
    assert len(rows) == 4
    assert any("q02" in row and "only in second" in row for row in rows)
    swapped = client.get(PAGE, {"a": two[1].uuid, "b": two[0].uuid, "what": "only in first"})
    assert swapped.context["listing"].count == 1
    assert "Compare with first" in client.get(f"/snapshots/{two[1].uuid}/").content.decode()
    assert PAGE in client.get("/c/shop/snapshots/").content.decode()


def test_invalid_comparisons_are_explained(two, client_of, engineer):
    client, first = client_of(engineer), two[0]
    assert client.get(PAGE, {"a": first.uuid, "b": first.uuid}).status_code == 422
    assert client.get(API, {"a": first.uuid, "b": first.uuid}).status_code == 400
    assert client.get(PAGE, {"metric": "nDCC@10"}).status_code == 422
    assert client.get(PAGE, {"a": "nothing"}).status_code == 404
    assert client.get(API, {"a": "nothing"}).status_code == 400


def test_one_snapshot_or_none_leads_on(collection, client_of, engineer):
    assert "Not enough snapshots" in client_of(engineer).get(PAGE).content.decode()


def test_without_runs_the_labels_are_compared_alone(stage, collection, client_of, engineer):
    stage.queries(2)
    stage.documents()
    round_ = stage.round(runs=0)
    stage.graded(round_, lambda pair, place: 1)
    for name in ("one", "two"):
        stage.frozen(round_, name)
    page = client_of(engineer).get(PAGE).content.decode()
    assert "No run has results for a query of these snapshots" in page
    assert "identical content" in page


def test_changes_of_pairs_a_reader_may_still_rate_are_hidden(two, stage, client_of, lead, engineer):
    again = stage.round(raters=1, name="Again")
    rounds.invite(again, [lead], actor=lead)
    page = client_of(lead).get(PAGE).content.decode()
    assert "pairs in Again" in page
    assert "changed label" not in page
    assert client_of(lead).get(API).status_code == 403
    assert client_of(engineer).get(API).status_code == 200


def test_it_is_computed_once(two, engineer, monkeypatch):
    first = snapshot_changes.compare(*two, reader=engineer)
    monkeypatch.setattr(snapshot_changes, "_labels", None)
    assert snapshot_changes.compare(*two, reader=engineer).changes.same == first.changes.same
