"""Tests of the page of decision-critical pairs, and of the round made from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.files.storage import default_storage

from assay.cli import main
from assay.core.errors import NotValid
from evaluation.comparison import decision_critical
from evaluation.scoring import scoring
from judgments.models import Round
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from pooling.pools import pools
from tests.cached_rows import cached_fixture

pytestmark = pytest.mark.django_db
PAGE = "/c/shop/scores/turning/"
COMPARE = "/c/shop/scores/compare/"
API = "/api/v1/collections/shop/scores/turning/"


@pytest.fixture
@cached_fixture
def scored(stage, collection, engineer):
    """P@2 over 12 queries: bm25 returns d0 (good) and d2, neural d1 (bad) and d4; nobody judged d2 and d4."""
    stage.queries()
    stage.documents()
    stage.run("bm25", "02")
    stage.run("neural", "14")
    lines = [f"q{n:02d} 0 d{digit} {3 * (digit == 0)}\n" for n in range(12) for digit in (0, 1)]
    stage.store("qrels", "".join(lines), "old.qrels")
    snapshot = snapshots.freeze(collection, name="first", rounds=[], sources=("imported",), actor=stage.lead)
    names = ["P@2", "Judged@10", "nDCG@10"]
    return scoring.score_runs(snapshot, list(collection.runs.order_by("name")), actor=engineer, metrics=names)


@pytest.fixture
@cached_fixture
def level(stage, collection, engineer):
    """The same runs where neural leads by so little that one pair turns it: all judged but d4."""
    stage.queries()
    stage.documents()
    stage.run("bm25", "14")
    stage.run("neural", "10")
    lines = [f"q{n:02d} 0 d{digit} {3 * (digit == 0 and n < 2)}\n" for n in range(12) for digit in (0, 1)]
    stage.store("qrels", "".join(lines), "old.qrels")
    snapshot = snapshots.freeze(collection, name="first", rounds=[], sources=("imported",), actor=stage.lead)
    return scoring.score_runs(snapshot, list(collection.runs.order_by("name")), actor=engineer, metrics=["P@2"])


@pytest.fixture
def get(client_of, engineer):
    return lambda address="", page=PAGE: client_of(engineer).get(page + address)


def test_irreversible_decisions_have_no_button(scored, get, client_of, lead):
    text = get("?a=bm25&b=neural&metric=P@2").content.decode()
    assert "documents can reverse the result" in text
    assert "Create round from" not in client_of(lead).get(f"{PAGE}?a=bm25&b=neural&metric=P@2").content.decode()
    response = client_of(lead).post(f"{PAGE}?a=bm25&b=neural&metric=P@2")
    assert response.status_code == 422
    assert "there is nothing to judge" in response.content.decode()


def test_the_pairs_with_ranks_grades_and_cost(level, get):
    """neural leads by 2 of 24 halves; three relevant d4 of bm25 turn it."""
    response = get("?a=bm25&b=neural&metric=P@2")
    text = response.content.decode()
    pairs = response.context["pairs"]
    assert (pairs.winner, pairs.turns, pairs.exact, len(pairs.pairs)) == ("neural", True, True, 3)
    assert "3 unjudged pairs of 12 could put bm25 ahead" in text
    assert "assuming 20 s per rating" in text
    assert [row["rank_a"] for row in response.context["listing"].rows] == [2, 2, 2]
    assert "Thing 4" in text


def test_the_comparison_tells_it_in_passing(level, get, client_of, lead):
    text = get("?a=bm25&b=neural&metric=P@2", COMPARE).content.decode()
    assert "3 unjudged pairs of 12 could put bm25 ahead" in text
    assert "Create round from these pairs" not in text
    assert (
        "Create round from these pairs" in client_of(lead).get(f"{COMPARE}?a=bm25&b=neural&metric=P@2").content.decode()
    )


def test_large_runs_are_not_read_in_passing(level, get, monkeypatch):
    monkeypatch.setattr(decision_critical, "ROWS_IN_PASSING", 10)
    assert "too large to check on this page" in get("?metric=P@2", COMPARE).content.decode()
    monkeypatch.setattr(decision_critical, "ROWS_AT_ONCE", 10)
    text = get("?metric=P@2").content.decode()
    assert "48 rows, too many for a page" in text
    assert "assay compare --turning" in text


def test_an_unsupported_metric(scored, get):
    assert "response of Judged@10" in get("?metric=Judged@10").content.decode()
    assert "Which judgments could change this result" not in get("?metric=Judged@10", COMPARE).content.decode()


def test_one_button_leads_a_lead_to_the_filled_in_round(level, client_of, lead, engineer, collection):
    client = client_of(lead)
    response = client.post(f"{PAGE}?a=bm25&b=neural&metric=P@2", follow=True)
    pool = collection.pools.get()
    assert response.redirect_chain == [(f"/c/shop/rounds/new/?pool={pool.uuid}", 302)]
    assert "New round with 3 pairs" in response.content.decode()
    entries = list(pool.entries.select_related("document"))
    assert {entry.document.doc_id for entry in entries} == {"d4"}
    assert entries[0].origin["runs"] == {"bm25": 2}
    assert pool.parameters["reason"] == "could reverse the comparison of bm25 and neural by P@2 on first"
    assert (
        "could reverse the comparison of bm25 and neural" in client.get(f"/c/shop/pools/{pool.uuid}/").content.decode()
    )
    # A double click asks twice: it is the same pool.
    again = client.post(f"{PAGE}?a=bm25&b=neural&metric=P@2", follow=True)
    assert (again.redirect_chain, collection.pools.count()) == (response.redirect_chain, 1)
    assert client_of(engineer).post(f"{PAGE}?a=bm25&b=neural&metric=P@2").status_code == 403


def test_pairs_that_were_graded_meanwhile_stay_out(stage, level, collection, get):
    first, second = level
    result = decision_critical.turn(first, second, "P@2")
    pool = decision_critical.make_pool(first, second, result, actor=stage.lead)
    made = rounds.open_round(_round(stage, pool), actor=stage.lead)
    stage.graded(made, lambda pair, place: 3, raters=1)
    response = get("?a=bm25&b=neural&metric=P@2")
    assert [row["state"] for row in response.context["listing"].rows] == ["graded since"] * 3
    with pytest.raises(NotValid, match="Freeze a new snapshot"):
        decision_critical.make_pool(first, second, result, actor=stage.lead)


def _round(stage, pool):
    from judgments.guidelines import guidelines

    version = guidelines.add_version(stage.collection, markdown="0 to 3", actor=stage.lead)
    return pools.make_round(
        pool, actor=stage.lead, name="R", guidelines=version, raters=stage.raters[:1], ratings_per_pair=1
    )


def test_leads_who_rate_see_neither_grades_nor_ranks(stage, level, collection, client_of, lead, api_of):
    first, second = level
    pool = decision_critical.make_pool(first, second, decision_critical.turn(first, second, "P@2"), actor=lead)
    made = _round(stage, pool)
    rounds.invite(made, [lead], actor=lead)
    rounds.open_round(made, actor=lead)
    assert Round.objects.open_to(lead).exists()
    response = client_of(lead).get(f"{PAGE}?a=bm25&b=neural&metric=P@2")
    rows = response.context["listing"].rows
    assert {(row["grade"], row["rank_a"], row["rank_b"], row["state"]) for row in rows} == {
        (None, None, None, "yours to grade")
    }
    assert "yours to grade in an open round" in response.content.decode()
    data = json.loads(client_of(lead).get(f"{PAGE}?a=bm25&b=neural&metric=P@2&format=json").content)
    assert {pair["grade"] for pair in data["pairs"]} == {None}
    assert {pair["rank_a"] for pair in api_of(lead).get(API, {"a": "bm25", "b": "neural"}).json()["pairs"]} == {None}


def test_page_api_and_command_tell_the_same(level, api_of, engineer, get, tmp_path, capsys, monkeypatch, collection):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_bytes(level[0].snapshot.read_file("qrels.txt"))
    for run in collection.runs.all():
        (tmp_path / f"{run.name}.run").write_bytes(Path(default_storage.path(run.path)).read_bytes())
    words = ["compare", "qrels.txt", "bm25.run", "neural.run", "-m", "P@2", "--turning", "--format", "json"]
    assert main(words) == 0
    (command,) = json.loads(capsys.readouterr().out)["turning"]
    page = json.loads(get("?a=bm25&b=neural&metric=P@2&format=json").content)
    api = api_of(engineer).get(API, {"a": "bm25", "b": "neural", "metric": "P@2"}).json()
    assert page == api
    assert page.pop("freshness")["state"] == "stale"
    for pair in page["pairs"]:
        assert pair.pop("state") == "not judged"
    # The labels' largest grade and the scale's top are the same here; the pace is assumed on both sides.
    assert page == command


@pytest.mark.parametrize(
    ("query", "status"),
    [({"a": "bm25"}, 400), ({"metric": "AP"}, 400), ({"snapshot": "x"}, 404), ({"a": "bm25", "b": "neural"}, 200)],
)
def test_invalid_api_requests_are_refused(level, api_of, engineer, query, status):
    assert api_of(engineer).get(API, query).status_code == status
