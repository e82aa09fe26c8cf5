"""Do pages and API tell what hangs on raters and conflicts, to whom they may, and say why where they cannot?"""

from __future__ import annotations

import pytest

from evaluation import conflict_effects as told_here
from evaluation import rater_effect
from judgments import adjudication, conflict_effects, rounds
from judgments.models import Pair

pytestmark = pytest.mark.django_db


@pytest.fixture
def rated(stage):
    """Two runs of other documents; the third rater alone likes what the second run returns."""
    stage.queries(4)
    stage.documents()
    stage.run("bm25", "012", queries=4)
    stage.run("neural", "345", queries=4)
    round_ = stage.round(raters=3, ratings_per_pair=3)

    def grade(pair: Pair, place: int) -> int:
        first = pair.document.doc_id in {"d0", "d1", "d2"}
        return (3 if first else 0) if place < 2 else (0 if first else 3)

    stage.graded(round_, grade, raters=3)
    return round_


def pages(round_):
    return f"/rounds/{round_.uuid}/raters/", f"/api/v1/rounds/{round_.uuid}/raters/"


def test_who_turns_the_ranking_alone_is_told(rated, client_of, engineer):
    page, call = pages(rated)
    told = client_of(engineer).get(call).json()
    assert (told["metric"], told["rule"], told["runs"]) == ("nDCG@10", "median", ["bm25", "neural"])
    assert len(told["raters"]) == 3
    turned = [one for one in told["raters"] if one["alone"]["tau"] == -1]
    assert len(turned) == 1
    assert (turned[0]["without"]["tau"], turned[0]["alone"]["moved"]) == (1, 1)
    html = client_of(engineer).get(page).content.decode()
    assert "What hangs on each rater" in html
    rows = client_of(engineer).get(page).context["listing"].rows
    assert {row["rater"]: row["agreement"] for row in rows}[turned[0]["rater"]] == 1, "the others agree in everything"
    file = b"".join(client_of(engineer).get(page, {"format": "csv"}).streaming_content)
    assert file.count(b"\n") == 4


def test_what_cannot_be_asked_is_said(rated, client_of, engineer):
    page, call = pages(rated)
    client = client_of(engineer)
    for asked in ({"metric": "nDCC@10"}, {"metric": "GMAP"}, {"rule": "dice"}):
        assert client.get(call, asked).status_code == 400
        assert client.get(page, asked).status_code == 422
    assert client.get(page, {"metric": "P@2", "rule": "max"}).status_code == 200


def test_every_rule_that_can_be_asked_is_offered(rated, client_of, engineer, monkeypatch):
    """The rule that is fitted is offered where fitting it for each rater takes no time, and nowhere else."""
    page, _ = pages(rated)
    client = client_of(engineer)
    response = client.get(page, {"rule": "dawid-skene"})
    assert response.status_code == 200
    assert '<option value="dawid-skene" selected>' in response.content.decode()
    monkeypatch.setattr(rater_effect, "MOST_FITTED", 10)
    assert "dawid-skene" not in dict(client.get(page).context["rules"])
    assert client.get(page, {"rule": "dawid-skene", "metric": "P@5"}).status_code == 422


def test_without_runs_or_raters_the_page_says_why(stage, client_of, engineer):
    stage.queries(1)
    stage.documents()
    round_ = stage.round(runs=0)
    page, call = pages(round_)
    assert "fewer than two raters" in client_of(engineer).get(page).content.decode()
    stage.graded(round_, lambda pair, place: 1)
    assert "two runs" in client_of(engineer).get(page).content.decode()
    assert client_of(engineer).get(call).status_code == 400


def test_a_lead_who_still_rates_is_told_nothing(stage, client_of, lead, engineer):
    stage.queries(2)
    stage.documents()
    stage.run("bm25", "012", queries=2)
    stage.run("neural", "210", queries=2)
    round_ = stage.round(raters=2, ratings_per_pair=2)
    rounds.invite(round_, [lead], actor=lead)
    stage.graded(round_, lambda pair, place: place, raters=1)
    page, call = pages(round_)
    assert "You may still be asked" in client_of(lead).get(page).content.decode()
    assert client_of(lead).get(call).status_code == 403
    assert "fewer than two raters" in client_of(engineer).get(page).content.decode()


def test_what_hangs_on_a_conflict_is_known_to_the_room_below(rated, lead):
    found = conflict_effects.effects(rated)
    assert found.metric == "nDCG@10"
    assert set(found.moves) == set(rated.pairs.values_list("pk", flat=True))
    # The third of three good documents at the third rank moves nothing: the ranking is perfect with it and without it.
    assert (min(found.moves.values()), max(found.moves.values()) > 0) == (0, True)
    pair = rated.pairs.select_related("query", "document", "round__collection").first()
    rows = conflict_effects.detail(pair, [0, 3])
    assert {row["run"] for row in rows} == {"bm25", "neural"}
    spread = max(abs(row["values"][3] - row["values"][0]) for row in rows)
    assert spread == pytest.approx(found.moves[pair.pk])
    assert rows[0]["rank"] in {1, 2, 3}
    adjudication.settle(pair, grade=3, reason="Just what was asked for.", actor=lead)
    assert conflict_effects.effects(rated) is not None


def test_of_a_round_of_too_many_answers_the_pages_say_that_nothing_is_told(rated, client_of, lead, monkeypatch):
    list_, client = f"/rounds/{rated.uuid}/conflicts/", client_of(lead)
    assert "is not counted" not in client.get(list_).content.decode()
    monkeypatch.setattr("evaluation.round_runs.GRADES_AT_ONCE", 10)
    said = f"The round has {3 * rated.pairs.count()} answers, and up to 10 are read while a page waits."
    assert f"is not counted. {said}" in client.get(list_).content.decode()
    assert said in client.get(pages(rated)[0]).content.decode()
    assert said in client.get(pages(rated)[1]).json()["error"]["message"]
    monkeypatch.undo()
    monkeypatch.setattr("evaluation.round_runs.ROWS_AT_ONCE", 3)
    assert "is not counted. The runs have" in client.get(list_).content.decode()


def test_of_a_round_without_runs_or_of_too_many_grades_nothing_is_told(stage, rated, monkeypatch):
    monkeypatch.setattr("evaluation.round_runs.GRADES_AT_ONCE", 10)
    assert told_here.effects(rated) is None
    assert told_here.detail(rated.pairs.first(), [0, 3]) == []
