"""Tests of score pages, files and endpoints with invalid addresses and odd names."""

from __future__ import annotations

import csv
import io
from itertools import product
from typing import Any
from urllib.parse import quote
from xml.dom import minidom

import pytest

from evaluation.scoring import scoring
from judgments.models import Collection, Document, Membership, Query, Snapshot
from pooling.models import Run
from tests.evaluation.stage import Stage

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
PAGES = {
    "/c/shop/scores/": ("snapshot", "metric", "weight", "runs", "format", "queries"),
    "/c/shop/scores/new/": ("snapshot", "run"),
    "/c/shop/scores/history/": ("metric", "run", "format"),
    "/c/shop/scores/compare/": ("snapshot", "a", "b", "metric", "weight", "query", "depth", "format", "q", "sort"),
    "/c/shop/scores/query/": ("snapshot", "query", "depth", "run", "runs", "metric", "document", "format", "q"),
    "/api/v1/collections/shop/scores/": ("snapshot", "metric", "page", "page_size"),
    "/api/v1/collections/shop/scores/compare/": ("snapshot", "a", "b", "metric", "weight"),
    "/api/v1/collections/shop/scores/history/": ("metric", "run"),
}
ODD = ["%00", "%ED%A0%80", "x" * 10_000, "9" * 30, "-1", "nan", "1e999", quote("\"'><script>alert(1)</script>")]
RUN_NAME = '=cmd|"\x08\n<script>alert(2)</script>'


@pytest.fixture
def scored(stage: Stage, engineer: Any) -> Snapshot:
    """Two scored runs; names, texts and titles hold what a page, a picture or a spreadsheet would run."""
    snapshot = stage.whole_way()
    scoring.score_runs(snapshot, list(stage.collection.runs.all()), actor=engineer, metrics=["nDCG@10"])
    stage.collection.runs.filter(name="bm25").update(name=RUN_NAME)
    Query.objects.filter(query_id="q01").update(text="=1+1<script>alert(3)</script>")
    Document.objects.filter(doc_id="d0").update(title="@SUM(1)<script>alert(4)</script>")
    return snapshot


@pytest.mark.slow
def test_no_parameter_breaks_a_page(scored: Snapshot, client_of: Any, engineer: Any) -> None:
    client = client_of(engineer)
    for place, names in PAGES.items():
        for name, value in product(names, ODD):
            response = client.get(_asking(place, name, value))
            assert response.status_code < 500, (place, name, value[:40])
            if "html" in response.headers["Content-Type"]:
                assert "<script>alert" not in response.content.decode(), (place, name, value[:40])


def test_other_collections_stay_hidden(scored: Snapshot, stage: Stage, client_of: Any, engineer: Any) -> None:
    other = Collection.objects.create(slug="other", name="Other")
    for user, role in ((stage.lead, "lead"), (stage.raters[0], "rater")):
        Membership.objects.create(collection=other, user=user, role=role)
    foreign = Stage(other, stage.lead, stage.raters)
    foreign.queries(2)
    foreign.documents()
    foreign.run("run-of-others", "0123", 2)
    round_ = foreign.round(runs=1, raters=1)
    foreign.graded(round_, lambda pair, place: 1, raters=1)
    snapshot = foreign.frozen(round_, "snapshot-of-others")
    scoring.score_runs(snapshot, list(other.runs.all()), actor=stage.lead, metrics=["nDCG@10"])
    client = client_of(engineer)
    for place, names in PAGES.items():
        for name, row in product({"snapshot", "a", "b", "run", "runs"} & set(names), (snapshot, other.runs.get())):
            response = client.get(_asking(place, name, str(row.uuid)))
            assert response.status_code in (200, 400, 404), (place, name)
            assert b"of-others" not in response.content, (place, name)


def _asking(place: str, name: str, value: str) -> str:
    beside = "query=q01&" if place.endswith("/query/") and name != "query" else ""
    return f"{place}?{beside}{name}={value}"


def test_pictures_hold_names_as_text(scored: Snapshot, client_of: Any, engineer: Any) -> None:
    for place in ("", "history/", "compare/"):
        drawn = minidom.parseString(client_of(engineer).get(f"/c/shop/scores/{place}?format=svg").content)
        assert not drawn.getElementsByTagName("script")


def test_no_cell_of_a_file_is_a_formula(scored: Snapshot, client_of: Any, engineer: Any) -> None:
    for file in ("?format=csv", *(f"{place}format=csv" for place in ("history/?", "compare/?", "query/?query=q01&"))):
        response = client_of(engineer).get(f"/c/shop/scores/{file}")
        body = (response.getvalue() if response.streaming else response.content).decode()
        cells = [cell for row in csv.reader(io.StringIO(body)) for cell in row]
        assert len(cells) > 10
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t", "\r"))], file


def test_a_name_makes_no_line_of_its_own(scored: Snapshot, client_of: Any, engineer: Any) -> None:
    Run.objects.filter(name=RUN_NAME).update(name="bm25\nndcg_cut_10\tall\t1.0000")
    lines = client_of(engineer).get("/c/shop/scores/?format=trec&queries=none").content.decode().splitlines()
    assert len(lines) == 4  # for each run its name and one mean
    assert [line.split("\t")[0] for line in lines] == ["runid", "ndcg_cut_10"] * 2
    table = client_of(engineer).get("/c/shop/scores/?format=latex").content.decode().splitlines()
    assert len(table) == 8
