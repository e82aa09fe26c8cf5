"""Tests of the comparison page: queries, documents, and the numbers of the command."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assay.cli import main
from evaluation.scoring import scoring
from judgments.models import Query
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from tests.cached_rows import cached_fixture
from tests.judgments.charts.vega_lite import layers_of

pytestmark = pytest.mark.django_db
PAGE = "/c/shop/scores/compare/"
API = "/api/v1/collections/shop/scores/compare/"


@pytest.fixture
@cached_fixture
def snapshot(stage, collection):
    """The labels of `Stage.whole_way`, imported: rating takes longer, and no test here asks who rated."""
    stage.systems()
    return _imported(stage, collection)


@pytest.fixture
def scored(snapshot, collection, engineer):
    return scoring.score_runs(snapshot, list(collection.runs.order_by("name")), actor=engineer)


def _imported(stage, collection):
    grades = {"d0": lambda n: 3, "d1": lambda n: 2, "d2": lambda n: n % 2, "d4": lambda n: n % 2}
    number = collection.queries.count()
    lines = [f"q{n:02d} 0 {doc_id} {grade(n)}\n" for n in range(number) for doc_id, grade in grades.items()]
    stage.store("qrels", "".join(lines), "old.qrels")
    return snapshots.freeze(collection, name="first", rounds=[], sources=("imported",), actor=stage.lead)


@pytest.fixture
def get(client_of, engineer):
    return lambda address="": client_of(engineer).get(PAGE + address)


@pytest.fixture
@cached_fixture
def three(stage, collection, engineer):
    """Twenty queries, so that signs are drawn, and three runs that order three judged documents each in its own way."""
    stage.queries(20)
    for number, query in enumerate(collection.queries.order_by("query_id")):
        tier = ("head", 0.9) if number < 8 else ("tail", 0.2)
        collection.queries.filter(pk=query.pk).update(weight=(number % 7 + 1) / 99, tier=tier[0], probability=tier[1])
    stage.documents()
    orders = {"one": ("012", "102", "210"), "two": ("021", "012", "5012"), "three": ("102", "201", "012")}
    for name, of in orders.items():
        rows = [
            f"q{n:02d} Q0 d{digit} {rank} {99 - rank} {name}\n"
            for n in range(20)
            for rank, digit in enumerate(of[(n * n + n // 3) % 3], 1)
        ]
        stage.store("runs", "".join(rows), f"{name}.run")
    snapshot = _imported(stage, collection)
    return snapshot, scoring.score_runs(snapshot, list(collection.runs.all()), actor=engineer)


def _score_two(stage, collection, engineer):
    """The two runs of `Stage.whole_way`, over the queries that are there."""
    stage.documents()
    stage.run("bm25", "0123")
    stage.run("neural", "1045")
    return scoring.score_runs(_imported(stage, collection), list(collection.runs.all()), actor=engineer)


def test_needs_two_scored_runs(collection, get):
    assert "Not enough scored runs" in get().content.decode()


def test_runs_without_a_common_metric(snapshot, collection, engineer, get):
    bm25, neural = collection.runs.order_by("name")
    scoring.score_runs(snapshot, [bm25], actor=engineer, metrics=["AP"])
    scoring.score_runs(snapshot, [neural], actor=engineer, metrics=["RR@10"])
    assert "share a metric" in get().content.decode()


def test_runs_and_metric_are_those_of_the_address(scored, get):
    comparison = get().context["comparison"]
    assert (comparison.b.run.name, comparison.a.run.name, comparison.metric) == (
        "bm25",
        "neural",
        "nDCG@10",
    )  # the best is b
    comparison = get("?a=bm25&b=neural&metric=RR@10").context["comparison"]
    assert (comparison.a.run.name, comparison.b.run.name, comparison.metric) == ("bm25", "neural", "RR@10")


@pytest.mark.both_databases
def test_invalid_addresses_are_explained(scored, get):
    for address, text in {
        "?a=bm25&b=bm25": "cannot be compared with itself",
        "?a=nosuch": "run nosuch has no score for nDCG@10",
        "?metric=nDGC@10": "Fewer than two runs have scores for nDGC@10",
        "?query=nosuch": "Query nosuch is not part of this comparison",
        "?weight=traffic": "A mean weighted by traffic is not available: the queries have no weight",
    }.items():
        response = get(address)
        comparison = response.context["comparison"]
        assert comparison.a != comparison.b
        assert text in response.content.decode()
        assert "answers" not in response.context
    assert get("?query=%00").status_code == 200


def test_list_keeps_what_is_compared_and_opened(scored, get):
    page = get("?a=bm25&b=neural&metric=AP&query=q03&depth=20&outcome=worse").context["listing"]
    for part in ("metric=AP", "query=q03", "depth=20"):
        assert part in page.csv
        assert part in page.heads[0][1]
    rows = get(get("?a=bm25&b=neural&metric=AP&sort=query").context["listing"].csv).getvalue().decode().splitlines()
    assert rows[0] == "query,difference,a,b,query_id"
    assert len(rows) == 13


def test_opened_query_has_the_requested_depth_and_its_neighbors(scored, get):
    ids = [one.query_id for one in get("?a=neural&b=bm25").context["comparison"].differences]
    response = get(f"?a=neural&b=bm25&query={ids[1]}&depth=1")
    answers = response.context["answers"]
    assert [[place.doc_id for place in side.places] for side in answers.rankings] == [["d1"], ["d0"]]
    assert "to 2" in response.content.decode()
    assert f"query={ids[0]}#" in response.context["before"]
    assert f"query={ids[2]}#" in response.context["after"]
    assert get(f"?a=neural&b=bm25&query={ids[0]}").context["before"] == ""


def test_files(scored, get):
    response = get("?format=svg")
    assert response.headers["Content-Disposition"].endswith('.svg"')
    assert b'class="better"' in response.content
    file = json.loads(get("?a=neural&b=bm25&format=json").content)
    assert len(file["per_query"]) == 12
    assert layers_of(get("?a=neural&b=bm25&format=vl.json")) == [file["per_query"]]
    assert {row["outcome"] for row in file["per_query"]} <= {"better", "equal", "worse"}
    assert [pair["metric"] for pair in file["exploratory"]] == ["RR@10", "R@100", "P@10", "AP", "Judged@10"]


@pytest.mark.parametrize(("metric", "weight"), [("nDCG@10", ""), ("AP", ""), ("nDCG@10", "&weight=traffic")])
def test_numbers_are_those_of_the_command(three, api_of, engineer, get, tmp_path, capsys, monkeypatch, metric, weight):
    snapshot, _ = three
    monkeypatch.chdir(tmp_path)
    for name in ("qrels.txt", "queries.csv"):
        (tmp_path / name).write_bytes(snapshot.read_file(name))
    for run in snapshot.collection.runs.all():
        (tmp_path / f"{run.name}.run").write_bytes(Path(default_storage.path(run.path)).read_bytes())
    # The page puts the two that are compared first, then the others by name.
    files = ["qrels.txt", "two.run", "one.run", "three.run"]
    words = ["--weights", "queries.csv"] if weight else []
    assert main(["compare", *files, "-m", metric, "--format", "json", *words]) == 0
    data = json.loads(capsys.readouterr().out)
    body = api_of(engineer).get(f"{API}?a=two&b=one&metric={metric}{weight}").json()
    (pair,) = body["pairs"]
    assert pair == data["pairs"][0]
    assert pair["queries"] == 20
    assert pair["p_corrected"] > pair["p"]
    assert (body["runs"], body["settings"]) == (data["runs"], data["settings"])
    # The server tells the hash of the file as it came, whatever it is kept as.
    assert body["files"]["one"]["sha256"] == snapshot.collection.runs.get(name="one").sha256
    assert body["qrels"]["sha256"] == data["qrels"]["sha256"]
    file = json.loads(get(f"?a=two&b=one&metric={metric}{weight}&format=json").content)
    assert {key: file[key] for key in body} == body
    assert get(f"?a=two&b=one&metric={metric}{weight}").context["pair"] == pair


def test_page_says_difference_chance_and_holes(three, get):
    response = get("?a=two&b=one")
    html, pair = unescape(response.content.decode()), response.context["pair"]
    assert f"{abs(pair['difference']):.3f}" in html
    assert f"p = {pair['p']:.3f}" in html
    assert "correction over 3 pairs" in html
    assert f"{pair['wins']} better · {pair['ties']} equal · {pair['losses']} worse" in html
    assert f"With 20 queries, a true difference of {pair['detectable']:.3f} is detected with 80% probability." in html


def test_fewer_than_six_queries_are_not_tested(stage, collection, engineer, get):
    stage.systems(5)
    scoring.score_runs(_imported(stage, collection), list(collection.runs.all()), actor=engineer)
    html = get().content.decode()
    assert "not tested" in html
    assert "Fewer than 6 queries" in html
    assert "no interval with fewer than 10 queries" in html
    assert "p =" not in html


def test_other_metrics_are_exploratory_and_uncorrected(scored, get):
    response = get("?a=neural&b=bm25&metric=RR@10")
    assert [row["metric"] for row in response.context["others"]] == ["nDCG@10", "R@100", "P@10", "AP", "Judged@10"]
    html = response.content.decode()
    assert "badge--warn" in html  # RR@10 is not the first metric
    assert "RR@10 is exploratory" in html


def test_tiers_with_their_number_of_queries(stage, collection, engineer, get):
    stage.queries(tier="head")
    collection.queries.filter(query_id="q10").update(tier="tail")
    collection.queries.filter(query_id="q11").update(tier="")
    _score_two(stage, collection, engineer)
    # What changes after freezing changes no score and no tier of it.
    collection.queries.update(tier="torso")
    response = get("?a=neural&b=bm25")
    rows = [(row["tier"], row["queries"], bool(row["range"])) for row, _ in response.context["tiers"]]
    assert rows == [("head", 10, True), ("tail", 1, False), ("no tier", 1, False)]
    shown = {one.query_id: one.value for one in response.context["comparison"].differences}
    assert response.context["tiers"][0][0]["difference"] == pytest.approx(
        sum(shown[f"q{n:02d}"] for n in range(10)) / 10
    )
    chosen = get("?a=neural&b=bm25&tier=tail").context["listing"]
    assert [row["query_id"] for row in chosen.rows] == ["q10"]


def test_by_traffic_where_queries_have_weights(stage, collection, engineer, get):
    stage.queries()
    for number, query in enumerate(collection.queries.order_by("query_id"), 1):
        collection.queries.filter(pk=query.pk).update(weight=number / 100, probability=0.5)
    _score_two(stage, collection, engineer)
    plain = get("?a=neural&b=bm25&metric=nDCG@10")
    weighted = get("?a=neural&b=bm25&metric=nDCG@10&weight=traffic")
    of = {one.query_id: one.value for one in plain.context["comparison"].differences}
    by_hand = sum((number + 1) * of[f"q{number:02d}"] for number in range(12)) / sum(range(1, 13))
    assert weighted.context["pair"]["difference"] == pytest.approx(by_hand)
    assert plain.context["pair"]["difference"] == pytest.approx(sum(of.values()) / 12)
    assert "Same result if weighted by traffic" in plain.content.decode()
    html = weighted.content.decode()
    assert "Same result if weighted by traffic" not in html
    assert "weight=traffic" in weighted.context["listing"].csv
    assert "Every query is weighted by its traffic." in html


def test_every_bar_is_a_link_to_its_query(scored, get):
    response = get("?a=neural&b=bm25")
    html = response.content.decode()
    assert html.count('class="hit"') == 12
    assert [link.url for link in response.context["links"]] == [
        f"{response.context['address']}&query={one.query_id}#opened"
        for one in response.context["comparison"].differences
    ]


def test_opened_query_shows_what_moved(scored, get):
    response = get("?a=neural&b=bm25&query=q00")
    html = response.content.decode()
    # neural returns d1 d0 d4 d5, bm25 d0 d1 d2 d3.
    assert response.context["moved"] == ["2 new in bm25", "2 missing from bm25", "1 moved up", "1 moved down"]
    assert 'data-move="up">1 up' in html
    assert html.count("badge--accent") == 2
    assert 'class="here-line"' in html
    assert html.count('data-grade="hole"') == 2
    assert len(response.context["lines"]) == 6


def test_raters_do_not_see_open_queries(stage, scored, client_of, lead, engineer, get):
    """The lead is asked to grade one pair again: its query is in no number that the lead sees; others see it."""
    before = get("?a=neural&b=bm25").context["comparison"]
    again = stage.round(name="Round 2", runs=0)
    again.pairs.exclude(query__query_id="q03").delete()
    rounds.invite(again, [lead], actor=lead)
    response = client_of(lead).get(PAGE + "?a=neural&b=bm25&query=q03")
    comparison = response.context["comparison"]
    assert "q03" not in {one.query_id for one in comparison.differences}
    assert comparison.pair["queries"] == 11
    assert [row["queries"] for row in response.context["others"]] == [11] * 5
    html = response.content.decode()
    assert "1 query is hidden because" in html
    assert "Query q03 is hidden because" in html
    assert get("?a=neural&b=bm25").context["comparison"].pair == before.pair


def test_raters_of_all_queries_see_no_comparison(stage, scored, client_of, api_of, lead):
    rounds.invite(stage.round(name="Round 2"), [lead], actor=lead)
    response = client_of(lead).get(PAGE)
    assert response.status_code == 403
    assert "You may still have to grade documents of every query" in response.content.decode()
    assert api_of(lead).get(API).status_code == 403


def test_names_of_others_stay_text(scored, collection, get):
    collection.queries.filter(query_id="q00").update(text="<script>alert(1)</script>")
    collection.runs.filter(name="bm25").update(name="<b>bm25")
    html = get("?query=q00").content.decode()
    assert "<script>alert" not in html
    assert "<b>bm25" not in html


def test_more_queries_are_no_more_questions_to_the_database(scored, collection, get):
    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            get("?a=neural&b=bm25")
        return len(queries)

    get("?a=neural&b=bm25")
    before = count_queries()
    Query.objects.bulk_create(Query(collection=collection, query_id=f"more{n}", text="more") for n in range(20))
    assert count_queries() == before


def test_many_metrics_over_many_queries_are_not_drawn_for_a_page(scored, get, monkeypatch):
    """Every metric costs a hundred thousand draws over the queries: five others over twelve queries are sixty."""
    monkeypatch.setattr("evaluation.comparison.views.runs.MOST_DRAWN_TOGETHER", 60)
    assert all(other["p"] is not None for other in get().context["others"])
    monkeypatch.setattr("evaluation.comparison.views.runs.MOST_DRAWN_TOGETHER", 59)
    response = get()
    assert all(
        other["p"] is None and other["wins"] + other["ties"] + other["losses"] == 12
        for other in response.context["others"]
    )
    assert "Choose a single metric to see them" in response.content.decode()
    assert response.context["pair"]["p"] is not None
