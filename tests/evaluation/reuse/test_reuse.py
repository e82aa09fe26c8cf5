"""Tests of reusability: contributing pools, missed documents and runs that leaving out would hurt."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.files.storage import default_storage

from assay.cli import main
from assay.core.errors import NotValid
from evaluation.reuse import reuse
from judgments.guidelines import guidelines
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from pooling.pools import pools
from pooling.runs import runs
from tests.cached_rows import cached_fixture
from tests.evaluation.stage import GUIDELINES, by_digit
from tests.judgments.charts.vega_lite import layers_of

pytestmark = pytest.mark.django_db
PAGE = "/c/shop/scores/reuse/"
API = "/api/v1/collections/shop/scores/reuse/"


@pytest.fixture
@cached_fixture
def frozen(stage):
    """bm25 returns d0 d1 d2 d3, neural d1 d0 d4 d5; three deep, so that d2 is bm25's alone and d4 neural's."""
    few(stage, bm25="0123", neural="1045")
    return judged(stage, stage.round(raters=1))


def few(stage, queries=4, **orders):
    """A handful of queries, and runs that answer each with the documents of these digits."""
    stage.queries(queries)
    stage.documents()
    for name, order in orders.items():
        stage.run(name.replace("_", "-"), order, queries)


def judged(stage, round_):
    """The snapshot of the round, once one rater has graded it."""
    stage.graded(round_, by_digit, raters=1)
    return stage.frozen(rounds.close_round(round_, actor=stage.lead))


@pytest.fixture
def get(client_of, engineer):
    return lambda address="": client_of(engineer).get(PAGE + address)


def with_residual(stage, collection):
    """Pools of depth 1 with two random pairs a query of the four that are left."""
    few(stage, bm25="0235", neural="1024")
    drawn = pools.draw_pool(
        collection,
        strategy="depth",
        runs=list(collection.runs.order_by("name")),
        parameters={"depth": 1},
        residual=2,
        seed=4,
        actor=stage.lead,
    )
    version = guidelines.add_version(collection, markdown=GUIDELINES, actor=stage.lead)
    made = pools.make_round(drawn, actor=stage.lead, name="Round 1", guidelines=version, raters=stage.raters[:1])
    return rounds.open_round(made, actor=stage.lead)


def test_contributors_are_those_of_the_pools_whatever_they_are_called_now(stage, frozen, collection):
    stage.run("later", "4567")
    runs.rename(collection.runs.get(name="bm25"), name="lexical", actor=stage.lead)
    had = reuse.contributors(frozen, list(collection.runs.all()))
    assert ([run.name for run in had.runs], had.depth, had.gone) == (["lexical", "neural"], 3, 0)
    result = reuse.look(frozen, "nDCG@10")
    assert [one.name for one in result.left_out] == ["lexical", "neural"]
    assert [(one.contributed, one.unique) for one in result.left_out] == [(12, 4), (12, 4)]
    assert set(result.judged) == {"lexical", "neural", "later"}
    assert result.judged["later"][5] == pytest.approx(0.25)


def test_the_page_tells_what_the_command_tells(frozen, collection, get, tmp_path, capsys):
    files = []
    for run in collection.runs.all():
        path = tmp_path / f"{run.name}.run"
        path.write_bytes(Path(default_storage.path(run.path)).read_bytes())
        files.append(str(path))
    qrels = tmp_path / "qrels.txt"
    qrels.write_bytes(frozen.read_file(snapshots.FILES["trec-qrels"]))
    assert main(["reuse", str(qrels), *files, "-m", "AP", "--depth", "3", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    page = json.loads(get("?metric=AP&format=json").content)
    assert {key: page[key] for key in data} == data
    assert page["snapshot"] == str(frozen.uuid)


def test_the_residual_stratum_is_counted_by_query(stage, collection):
    """Two of the four documents below the pool (d2 d3 d4 d5) are drawn; the digit of each says its grade."""
    round_ = with_residual(stage, collection)
    snapshot = judged(stage, round_)
    missed = reuse.look(snapshot, "P@1").missed
    drawn = round_.pairs.filter(origin__why="residual").select_related("query", "document")
    relevant = sum(by_digit(pair, 0) >= 1 for pair in drawn)
    assert drawn.count() == 8
    assert (missed.method, missed.queries, missed.unjudged) == ("residual", 4, 8)
    assert missed.value == pytest.approx(2 * relevant - relevant)
    assert missed.low <= missed.value <= missed.high <= 8
    from_two = reuse.look(snapshot, "P@1", relevant_from=2).missed
    assert (from_two.value, from_two.found) == (0.0, 8)


def test_an_ungraded_residual_stratum_is_reported(stage, collection):
    round_ = with_residual(stage, collection)
    rater = stage.raters[0]
    batch = assignment.claim_batch(round_, rater=rater, size=50)
    pooled = next(pair for pair in batch if pair.origin["why"] != "residual")
    submission.submit(round_, submission.Answer(uuid.uuid4(), pooled.uuid, 2), rater=rater)
    snapshot = stage.frozen(rounds.close_round(round_, actor=stage.lead))
    missed = reuse.look(snapshot, "P@1").missed
    assert not round_.pairs.filter(origin__why="residual", judgments__isnull=False).exists()
    assert (missed.method, missed.value) == ("residual", None)
    assert missed.reason == "no document of the residual stratum has a grade yet"


def test_without_a_pool_of_runs_nothing_can_be_left_out(stage, collection, get):
    stage.queries()
    stage.documents()
    stage.run("bm25", "01")
    stage.store("qrels", "".join(f"q{n:02d} 0 d0 1\n" for n in range(12)), "old.qrels")
    snapshots.freeze(collection, name="first", rounds=[], sources=("imported",), actor=stage.lead)
    text = get().content.decode()
    assert "No run is known to have contributed to the pool" in text
    assert "of 12 queries" in text or "Unknown" in text


def test_the_page_with_every_part(frozen, get):
    response = get("?metric=P@10")
    text = response.content.decode()
    assert response.status_code == 200
    assert "2 runs contributed to the pool down to rank 3" in text
    assert {row["run"] for row in response.context["listing"].rows} == {"bm25", "neural"}
    assert "the runs are fully judged only to rank 3" in text.lower()
    assert response.context["chart"] is not None
    assert get("?format=csv").headers["Content-Type"].startswith("text/csv")
    assert b"<svg" in get("?format=svg").content
    curve = json.loads(get("?metric=P@10&format=json").content)["discovery"]
    whole, deeper, *_ = layers_of(get("?format=vl.json"))
    assert [*whole[1:], *deeper[1:]] == curve["steps"]


def test_a_document_counts_as_relevant_from_where_the_scale_says(stage, collection, get, api_of, engineer):
    """On pages, in files and by API alike, for as long as nobody asks for another grade."""
    few(stage, bm25="012", neural="120")
    judged(stage, stage.round(runs=2, raters=1, relevant_from=2))
    page = get("?metric=nDCG@10")
    assert page.context["relevant_from"] == 2
    assert "P(rel=2)@10" in page.context["metrics"]
    data = {
        request: api_of(engineer).get(f"{API}?metric=nDCG@10{request}").json()
        for request in ("", "&relevant=2", "&relevant=1")
    }
    assert data[""]["relevant_from"] == 2
    assert data[""] == data["&relevant=2"] == json.loads(get("?metric=nDCG@10&format=json").content)
    assert data["&relevant=1"]["relevant_from"] == 1


def test_only_contributors_count_as_fully_judged(stage, collection, get):
    """A run that came later returns what nobody judged, and an order turned round has a true minus."""
    few(stage, bm25="012", neural="120")
    judged(stage, stage.round(runs=2, raters=1))
    assert (
        "All documents that the contributing runs return for the judged queries are judged.</p>"
        in get().content.decode()
    )
    stage.run("late", "567", 4)
    page = get("?metric=P@10").content.decode()
    assert "Other runs may return additional documents" in page
    assert "tau -" not in page


def test_odd_addresses(frozen, get):
    assert get("?metric=GMAP&relevant=x&page=-1").status_code == 200
    assert "This collection has no run nobody" in get("?together=nobody").content.decode()
    assert "all contributors would be left out" in get("?together=bm25,neural").content.decode().lower()
    assert get("?snapshot=00000000-0000-0000-0000-000000000000").status_code == 404


def test_before_there_is_anything(stage, collection, get):
    assert "No snapshot yet" in get().content.decode()
    stage.queries()
    stage.store("qrels", "q00 0 d0 1\n", "old.qrels")
    snapshot = snapshots.freeze(collection, name="first", rounds=[], sources=("imported",), actor=stage.lead)
    assert "no runs yet" in get().content.decode()
    stage.store("runs", "other Q0 d0 1 1 x\n", "other.run")
    with pytest.raises(NotValid, match="No run has results for a judged query"):
        reuse.look(snapshot, "P@1")


def test_large_runs_are_left_to_the_command(frozen, get, monkeypatch):
    monkeypatch.setattr(reuse, "ROWS_AT_ONCE", 10)
    assert "run `assay reuse`" in get().content.decode()


def test_queries_that_a_reader_may_still_grade_are_left_out(stage, frozen, collection, client_of):
    """The lead rates a second round over one query of the snapshot."""
    stage.raters = [stage.lead, *stage.raters]
    given = {"pairs": [("q00", "d0"), ("q00", "d6")]}
    pool = pools.draw_pool(collection, strategy="list", runs=[], parameters=given, actor=stage.lead)
    version = guidelines.latest(collection)
    made = pools.make_round(pool, actor=stage.lead, name="Round 2", guidelines=version, raters=[stage.lead])
    assignment.claim_batch(rounds.open_round(made, actor=stage.lead), rater=stage.lead, size=1)
    assert snapshots.withheld_queries(stage.lead, frozen) == {"q00"}
    response = client_of(stage.lead).get(PAGE)
    assert "1 query is left out" in response.content.decode()
    assert [one.contributed for one in response.context["result"].left_out] == [9, 9]


def test_the_api_tells_the_same_and_refuses_by_field(frozen, api_of, engineer, get):
    api = api_of(engineer)
    body = api.get(f"{API}?metric=AP").json()
    assert body == json.loads(get("?metric=AP&format=json").content)
    assert body["left_out_queries"] == 0
    assert [group["name"] for group in api.get(f"{API}?together=bm25").json()["groups"]] == []
    for odd, field in (("metric=nDCG@x", None), ("together=nobody", "together"), ("relevant=nan", "relevant")):
        answer = api.get(f"{API}?{odd}")
        assert answer.status_code == 400, odd
        assert field is None or field in answer.json()["error"]["fields"]


def test_a_family_is_in_the_list_too(stage, collection, get):
    few(stage, bm25_a="012", bm25_b="021", neural="134")
    judged(stage, stage.round(runs=3, raters=1))
    rows = get("?metric=P@10").context["listing"].rows
    assert sorted((row["run"], row["group"]) for row in rows) == [
        ("bm25-a", "alone"),
        ("bm25-a", "bm25, 2 runs"),
        ("bm25-b", "alone"),
        ("bm25-b", "bm25, 2 runs"),
        ("neural", "alone"),
    ]
    family = next(row for row in rows if row["group"] == "bm25, 2 runs")
    assert (family["unique"], family["unique_relevant"]) == (8, 6)


def test_a_later_round_is_reported(stage, collection):
    round_ = with_residual(stage, collection)
    stage.graded(round_, by_digit, raters=1)
    rounds.close_round(round_, actor=stage.lead)
    second = stage.round(runs=0, raters=1, name="Round 2")
    stage.graded(second, by_digit, raters=1)
    both = [round_, rounds.close_round(second, actor=stage.lead)]
    snapshot = snapshots.freeze(collection, name="both", rounds=both, actor=stage.lead)
    assert "a later round added judgments" in reuse.look(snapshot, "P@1").missed.notes[0]
    assert replace(reuse.contributors(snapshot, []), runs=()).gone == 2
