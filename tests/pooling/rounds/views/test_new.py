"""Tests of the page for new rounds: cost estimate and settings."""

from __future__ import annotations

from typing import Any

import pytest

from judgments.models import Round
from judgments.rounds.settings import NAMES, RoundSettings
from pooling.pools.effort import Pace
from pooling.rounds.views import Cost, usual_overlap

GRADES = [("0", "Poor", "No."), ("1", "Fair", ""), ("2", "Good", ""), ("", "", "")]


def _form(*raters: Any, grades: list[tuple[str, str, str]] | None = None, **more: Any) -> dict[str, Any]:
    rows = {"grades-TOTAL_FORMS": str(len(grades or GRADES)), "grades-INITIAL_FORMS": "0"}
    for number, row in enumerate(grades or GRADES):
        rows |= {f"grades-{number}-{name}": cell for name, cell in zip(("value", "label", "cue"), row, strict=True)}
    options = {"name": "R", "ratings_per_pair": "2", "overlap": "0.4", "seed": "3", "act": "create"}
    return {**rows, **options, "raters": [str(rater.uuid) for rater in raters], **more}


@pytest.fixture
def page(pool: Any, at: Any) -> str:
    return f"{at('round_new', pool.collection)}?pool={pool.uuid}"


def test_without_a_pool_one_is_chosen(pool: Any, client_of: Any, lead: Any, at: Any) -> None:
    shown = client_of(lead).get(at("round_new", pool.collection)).content.decode()
    assert f"?pool={pool.uuid}" in shown


def test_without_any_pool_the_page_says_what_to_do(collection: Any, client_of: Any, lead: Any, at: Any) -> None:
    assert b"No pools yet" in client_of(lead).get(at("round_new", collection)).content


@pytest.mark.parametrize("address", ["?pool=x", "?pool=7d444840-9dc0-11d1-b245-5ffdce74fad2"])
def test_a_pool_that_is_not_there_is_404(collection: Any, client_of: Any, lead: Any, at: Any, address: str) -> None:
    assert client_of(lead).get(at("round_new", collection) + address).status_code == 404


def test_the_form_begins_with_what_is_usual(page: str, guidelines: Any, client_of: Any, lead: Any) -> None:
    shown = client_of(lead).get(page).content.decode()
    assert "Open round for 3 raters" in shown
    assert 'value="Round 1"' in shown
    assert 'value="Perfect"' in shown
    assert "5 pairs get 2" in shown


def test_the_cost_follows_the_form_and_stores_nothing(page: str, client_of: Any, lead: Any, rater: Any) -> None:
    answer = client_of(lead).post(page, _form(rater, act="cost"))
    shown = answer.content.decode()
    assert answer.status_code == 200
    assert "2 pairs get 2, the others one" in shown
    assert "1 rater cannot give 2 ratings" in shown
    assert not Round.objects.exists()


def test_a_draft_is_made_as_requested(
    page: str, guidelines: Any, client_of: Any, lead: Any, rater: Any, rater2: Any
) -> None:
    answer = client_of(lead).post(page, _form(rater, rater2, guidelines=guidelines.uuid))
    made = Round.objects.get()
    assert answer.headers["Location"] == f"/rounds/{made.uuid}/progress/"
    assert (made.state, made.seed, made.overlap, made.guidelines) == ("draft", 3, 0.4, guidelines)
    assert made.scale.values() == [0, 1, 2]
    assert sorted(pair.ratings_wanted for pair in made.pairs.all()) == [1, 1, 1, 2, 2]


def test_a_round_can_open_at_once(page: str, client_of: Any, lead: Any, rater: Any) -> None:
    client_of(lead).post(page, _form(rater, act="open"))
    assert Round.objects.get().state == "open"


def test_without_guidelines_raters_get_the_template(page: str, client_of: Any, lead: Any, rater: Any) -> None:
    client_of(lead).post(page, _form(rater))
    assert Round.objects.get().guidelines.number == 1


def test_opening_without_raters_makes_nothing(page: str, client_of: Any, lead: Any) -> None:
    answer = client_of(lead).post(page, _form(act="open"))
    assert answer.status_code == 422
    assert "Invite at least one rater" in answer.content.decode()
    assert not Round.objects.exists()


def test_more_rows_keep_what_was_typed(page: str, client_of: Any, lead: Any) -> None:
    shown = client_of(lead).post(page, _form(act="rows", name="")).content.decode()
    assert 'name="grades-6-value"' in shown
    assert 'value="Fair"' in shown


@pytest.mark.parametrize(
    "grades",
    [[("0", "Poor", "")], [("0", "Poor", ""), ("0", "Fair", "")], [("0", "", "cue"), ("1", "x", "")], [("x", "a", "")]],
)
def test_a_scale_that_cannot_be_used(page: str, client_of: Any, lead: Any, grades: Any) -> None:
    answer = client_of(lead).post(page, _form(grades=grades))
    assert answer.status_code == 422
    assert not Round.objects.exists()


def test_a_taken_name_is_a_conflict(page: str, open_round: Any, client_of: Any, lead: Any) -> None:
    answer = client_of(lead).post(page, _form(name="Round 1"))
    assert answer.status_code == 409
    assert 'value="Round 1"' in answer.content.decode()


def test_a_stranger_cannot_be_requested_to_rate(page: str, client_of: Any, lead: Any, outsider: Any) -> None:
    assert client_of(lead).post(page, _form(outsider)).status_code == 422


@pytest.mark.parametrize("rows", ["x", "", "-1", "9" * 5000])
def test_a_number_of_rows_that_is_none(page: str, client_of: Any, lead: Any, rows: str) -> None:
    answer = client_of(lead).post(page, {**_form(act="rows"), "grades-TOTAL_FORMS": rows})
    assert answer.status_code == 200


def test_a_usual_scale_is_one_press(page: str, client_of: Any, lead: Any) -> None:
    browser = client_of(lead)
    answer = browser.post(page, _form(act="scale:binary", extra_at="2", name="Mine"))
    shown = answer.content.decode()
    assert answer.status_code == 200
    assert [row["label"].value() for row in answer.context["rows"]] == ["Not relevant", "Relevant", None, None]
    # Two grades of that scale lie one step apart at most.
    assert answer.context["form"]["extra_at"].value() == "1"
    assert 'value="Mine"' in shown
    five = browser.post(page, _form(act="scale:graded-5", extra_at="")).context["form"]
    assert (five["relevant_from"].value(), five["extra_at"].value()) == ("2", "")
    assert browser.post(page, _form(act="scale:none")).status_code == 200


def test_each_way_to_share_ratings_tells_what_it_costs(page: str, client_of: Any, lead: Any) -> None:
    browser = client_of(lead)
    ways = browser.get(page).context["offers"]
    assert [(way.cost.ratings, way.cost.rated_twice) for way in ways] == [(10, 5), (6, 1), (5, 0)]
    assert not any(way.cost.enough_overlap for way in ways)
    assert "a verdict needs at least 200 pairs in 30 queries" in browser.get(page).content.decode()
    taken = browser.post(page, _form(act=f"share:{ways[1].key}"))
    assert (taken.context["form"]["ratings_per_pair"].value(), taken.context["form"]["overlap"].value()) == ("2", "0.2")


def test_all_settings_are_stored_and_taken_over_by_the_next_round(
    page: str, client_of: Any, lead: Any, rater: Any, at: Any, pool: Any
) -> None:
    browser = client_of(lead)
    options = {"extra_at": "1", "extra_most": "2", "breadth_first": "on", "as_list": "on", "qualification": "tents"}
    quality = {
        "gold_every": "8",
        "repeat_share": "0.05",
        "pass_mark": "0.8",
        "pass_within": "1",
        "gate_threshold": "0.7",
    }
    submitted = _form(rater, **options, **quality, gate_coefficient="ac2", relevant_from="2", by_language="on")
    rater.memberships.update(qualifications=["tents"])
    browser.post(page, submitted)
    made = Round.objects.get()
    summary = RoundSettings.of(made)
    assert summary == RoundSettings(
        ratings_per_pair=2,
        overlap=0.4,
        breadth_first=True,
        extra_at=1,
        extra_most=2,
        qualification="tents",
        by_language=True,
        repeat_share=0.05,
        gold_every=8,
        pass_mark=0.8,
        pass_within=1,
        gate_coefficient="ac2",
        gate_threshold=0.7,
        as_list=True,
    )
    assert made.scale.relevant_from == 2
    chosen = browser.get(f"{at('round_new', pool.collection)}?after={made.uuid}").content.decode()
    assert f"?pool={pool.uuid}&amp;after={made.uuid}" in chosen
    begun = browser.get(f"{page}&after={made.uuid}")
    initial = begun.context["form"].initial
    assert RoundSettings(**{name: initial[name] for name in NAMES}) == summary
    assert (initial["raters"], initial["relevant_from"]) == ([str(rater.uuid)], 2)
    assert [row["value"].value() for row in begun.context["rows"]][:3] == [0, 1, 2]
    assert begun.context["opened"] is True
    for odd in ("x", str(pool.uuid)):
        assert browser.get(f"{page}&after={odd}&guidelines={odd}").context["form"].initial["overlap"] == 1.0


@pytest.mark.parametrize(
    ("name", "value"),
    [("extra_at", "3"), ("gold_every", "1"), ("relevant_from", "3"), ("pass_within", "2"), ("gate_coefficient", "x")],
)
def test_an_invalid_setting_is_reported_at_its_field(
    page: str, client_of: Any, lead: Any, name: str, value: str
) -> None:
    answer = client_of(lead).post(page, _form(pass_mark="0.8", **{name: value}))
    assert answer.status_code == 422
    assert set(answer.context["form"].errors) == {name}
    assert not Round.objects.exists()


def test_every_fifth_pair_is_proposed_where_that_is_enough_for_a_verdict() -> None:
    pace = Pace(20.0, 0)
    assert usual_overlap(1_000, [10] * 100, pace) == 0.2
    assert usual_overlap(900, [10] * 90, pace) == 1.0  # 180 pairs
    assert usual_overlap(10_000, [500] * 20, pace) == 1.0  # 20 queries
    cost = Cost(1_000, 200, 2, 3, pace, [10] * 100)
    # Of a query's ten pairs none is drawn in (1 - 0.2)^10 of the cases: 10.7 of 100 queries have none.
    assert (cost.queries_twice, cost.ratings, cost.hours) == (89, 1_200, "6.7 h")
    assert cost.half_width == pytest.approx(0.12, abs=0.001)
