"""Tests of the query page: rankings, grades with history and scores, for permitted readers."""

from __future__ import annotations

import csv
import json

import pytest

from evaluation.scoring import scoring
from judgments.models import Judge, MachineJudgment
from judgments.rounds import rounds

pytestmark = pytest.mark.django_db
PAGE = "/c/shop/scores/query/"


@pytest.fixture
def get(client_of, engineer):
    return lambda address="?query=q00": client_of(engineer).get(PAGE + address)


def test_lists_scores_and_grades(scored, get):
    response = get()
    context, html = response.context, response.content.decode()
    assert [ranking.run.name for ranking, _ in context["sides"]] == ["bm25", "neural"]
    # RR@10 of both is 1; bm25's order of grades 3 2 0 is perfect.
    values = {run.name: [one.value for one in line] for run, line in context["lines"]}
    assert dict(zip(context["page"].metrics, values["bm25"], strict=True))["nDCG@10"] == 1.0
    assert 0 < values["neural"][0] < 1
    rows = {one.doc_id: (one.label, len(one.raters)) for one in context["listing"].rows}
    assert rows == {"d0": (3, 2), "d1": (2, 2), "d2": (0, 2), "d4": (0, 2), "d3": (None, 0), "d5": (None, 0)}
    assert "r01" in html


def test_runs_can_be_chosen_and_the_address_keeps_them(stage, scored, collection, get):
    stage.run("third", "210")
    assert len(get().context["sides"]) == 3
    chosen = collection.runs.get(name="third")
    response = get(f"?query=q00&run={chosen.uuid}&run=bm25")
    assert [ranking.run.name for ranking, _ in response.context["sides"]] == ["bm25", "third"]
    again = get(response.context["depths"][1][1])
    assert [ranking.run.name for ranking, _ in again.context["sides"]] == ["bm25", "third"]
    assert again.context["page"].depth == 20
    third = [one.state for run, line in response.context["lines"] if run == chosen for one in line]
    assert set(third) == {"unscored"}


def test_more_runs_than_fit_are_offered_not_shown(stage, scored, get):
    for number in range(6):
        stage.run(f"more-{number}", f"0{number}"[::-1] if number else "0")
    response = get()
    assert [ranking.run.name for ranking, _ in response.context["sides"]][:2] == ["bm25", "neural"]
    assert len(response.context["sides"]) == 6
    assert "6 of 8 runs are shown" in response.content.decode()


def test_history_of_one_document(scored, get):
    html = get("?query=q00&document=d0").content.decode()
    assert "History of Thing 0" in html
    assert html.count("timeline") == 1
    assert "in snapshot <b>first</b>" in html
    assert "No run returns document nosuch" in get("?query=q00&document=nosuch").content.decode()


def test_scores_over_snapshots(stage, scored, collection, engineer, get):
    assert "P@10 by snapshot" not in get().content.decode()
    again = stage.round(name="Round 2")
    stage.graded(again, lambda pair, place: 0 if pair.document.doc_id == "d0" else 3)
    second = stage.frozen(rounds.close_round(again, actor=stage.lead), "second")
    scoring.score_runs(second, list(collection.runs.all()), actor=engineer)
    context = get("?query=q00&metric=RR@10").context
    assert [one.name for one in context["snapshots"]] == ["first", "second"]
    # Of bm25's d0 d1 the first is relevant on one snapshot, the second on the other; neural has d1 first.
    assert {run.name: [one.value for one in line] for run, line in context["over"]} == {
        "bm25": [1.0, 0.5],
        "neural": [1.0, 1.0],
    }


def test_files(scored, get):
    rows = list(csv.DictReader(get("?query=q00&format=csv").getvalue().decode().splitlines()))
    assert [row["doc_id"] for row in rows][:2] == ["d0", "d1"]
    assert sorted(rows[0]["raters"].split()) == ["r01:3", "r02:3"]
    file = json.loads(get("?query=q00&depth=2&format=json").content)
    assert [place["doc_id"] for place in file["runs"]["bm25"]] == ["d0", "d1"]
    assert file["scores"]["bm25"]["nDCG@10"] == 1.0
    assert {event["kind"] for event in file["documents"][0]["history"]} == {"rater", "snapshot"}


def test_raters_see_no_grade_score_or_history_of_open_pairs(stage, snapshot, scored, client_of, lead):
    again = stage.round(name="Round 2", runs=0)
    rounds.invite(again, [lead], actor=lead)
    judge = Judge.objects.create(collection=snapshot.collection, name="name-of-a-judge", kind="test")
    pair = again.pairs.get(query__query_id="q01", document__doc_id="d0")
    MachineJudgment.objects.create(judge=judge, pair=pair, outcome="graded", grade=2, rationale="reasons-of-a-machine")
    client = client_of(lead)
    response = client.get(f"{PAGE}?query=q01&document=d0")
    html = response.content.decode()
    hidden = {one.doc_id: (one.hidden, one.label, one.events) for one in response.context["listing"].rows if one.hidden}
    assert hidden == {name: (True, None, []) for name in ("d0", "d1", "d2")}
    assert {one.state for _, line in response.context["lines"] for one in line} == {"withheld"}
    assert "hidden</span>" in html
    assert "You may still have to grade this document" in html
    file = client.get(f"{PAGE}?query=q01&format=json")
    body = file.json()
    assert {value for values in body["scores"].values() for value in values.values()} == {None}
    assert {value for values in body["over_snapshots"]["runs"].values() for value in values.values()} == {None}
    assert {place["grade"] for place in body["runs"]["bm25"]} == {None}
    rows = client.get(f"{PAGE}?query=q01&format=csv").getvalue().decode()
    for text in (html, file.content.decode(), rows):
        assert "name-of-a-judge" not in text
        assert "reasons-of-a-machine" not in text


def test_without_a_run_or_a_score(without_runs, get):
    html = get().content.decode()
    assert "No results for this query yet" in html
    assert "Scores of this query" not in html
    assert get().context["listing"].count == 3


def test_an_unjudged_query(scored, collection, lead, get):
    collection.queries.create(collection=collection, query_id="new", text="new")
    response = get("?query=new")
    assert response.status_code == 200
    assert "This run has no results for the query" in response.content.decode()
    assert "This query has no judged documents" in response.content.decode()
