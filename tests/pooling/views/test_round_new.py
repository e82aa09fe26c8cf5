"""Does a lead know what a round costs before it is opened, and is it made as it was asked for?"""

from __future__ import annotations

from typing import Any

import pytest

from judgments.models import Round

GRADES = [("0", "Poor", "No."), ("1", "Fair", ""), ("2", "Good", ""), ("", "", "")]


def _sent(*raters: Any, grades: list[tuple[str, str, str]] | None = None, **more: Any) -> dict[str, Any]:
    rows = {"grades-TOTAL_FORMS": str(len(grades or GRADES)), "grades-INITIAL_FORMS": "0"}
    for number, row in enumerate(grades or GRADES):
        rows |= {f"grades-{number}-{name}": cell for name, cell in zip(("value", "label", "cue"), row, strict=True)}
    asked = {"name": "R", "ratings_per_pair": "2", "overlap": "0.4", "seed": "3", "act": "create"}
    return {**rows, **asked, "raters": [str(rater.uuid) for rater in raters], **more}


@pytest.fixture
def page(pool: Any, at: Any) -> str:
    return f"{at('round_new', pool.collection)}?pool={pool.uuid}"


def test_without_a_pool_one_is_chosen(pool: Any, client_of: Any, lead: Any, at: Any) -> None:
    shown = client_of(lead).get(at("round_new", pool.collection)).content.decode()
    assert f"?pool={pool.uuid}" in shown


def test_without_any_pool_the_page_says_what_to_do(collection: Any, client_of: Any, lead: Any, at: Any) -> None:
    assert b"A round needs pairs" in client_of(lead).get(at("round_new", collection)).content


@pytest.mark.parametrize("address", ["?pool=x", "?pool=7d444840-9dc0-11d1-b245-5ffdce74fad2"])
def test_a_pool_that_is_not_there_is_404(collection: Any, client_of: Any, lead: Any, at: Any, address: str) -> None:
    assert client_of(lead).get(at("round_new", collection) + address).status_code == 404


def test_the_form_begins_with_what_is_usual(page: str, guidelines: Any, client_of: Any, lead: Any) -> None:
    shown = client_of(lead).get(page).content.decode()
    assert "Open the round for 3 raters" in shown
    assert 'value="Round 1"' in shown
    assert 'value="Perfect"' in shown
    assert "5 pairs get 2" in shown


def test_the_cost_follows_the_form_and_stores_nothing(page: str, client_of: Any, lead: Any, rater: Any) -> None:
    answer = client_of(lead).post(page, _sent(rater, act="cost"))
    shown = answer.content.decode()
    assert answer.status_code == 200
    assert "2 pairs get 2, the others one" in shown
    assert "1 rater cannot give 2 ratings" in shown
    assert not Round.objects.exists()


def test_a_draft_is_made_as_asked(
    page: str, guidelines: Any, client_of: Any, lead: Any, rater: Any, rater2: Any
) -> None:
    answer = client_of(lead).post(page, _sent(rater, rater2, guidelines=guidelines.uuid))
    made = Round.objects.get()
    assert answer.headers["Location"] == f"/rounds/{made.uuid}/progress/"
    assert (made.state, made.seed, made.overlap, made.guidelines) == ("draft", 3, 0.4, guidelines)
    assert made.scale.values() == [0, 1, 2]
    assert sorted(pair.ratings_wanted for pair in made.pairs.all()) == [1, 1, 1, 2, 2]


def test_a_round_can_open_at_once(page: str, client_of: Any, lead: Any, rater: Any) -> None:
    client_of(lead).post(page, _sent(rater, act="open"))
    assert Round.objects.get().state == "open"


def test_without_guidelines_raters_get_the_template(page: str, client_of: Any, lead: Any, rater: Any) -> None:
    client_of(lead).post(page, _sent(rater))
    assert Round.objects.get().guidelines.number == 1


def test_opening_without_raters_makes_nothing(page: str, client_of: Any, lead: Any) -> None:
    answer = client_of(lead).post(page, _sent(act="open"))
    assert answer.status_code == 422
    assert "Ask at least one rater" in answer.content.decode()
    assert not Round.objects.exists()


def test_more_rows_keep_what_was_typed(page: str, client_of: Any, lead: Any) -> None:
    shown = client_of(lead).post(page, _sent(act="rows", name="")).content.decode()
    assert 'name="grades-6-value"' in shown
    assert 'value="Fair"' in shown


@pytest.mark.parametrize(
    "grades",
    [[("0", "Poor", "")], [("0", "Poor", ""), ("0", "Fair", "")], [("0", "", "cue"), ("1", "x", "")], [("x", "a", "")]],
)
def test_a_scale_that_cannot_be_used(page: str, client_of: Any, lead: Any, grades: Any) -> None:
    answer = client_of(lead).post(page, _sent(grades=grades))
    assert answer.status_code == 422
    assert not Round.objects.exists()


def test_a_taken_name_is_a_conflict(page: str, open_round: Any, client_of: Any, lead: Any) -> None:
    answer = client_of(lead).post(page, _sent(name="Round 1"))
    assert answer.status_code == 409
    assert 'value="Round 1"' in answer.content.decode()


def test_a_stranger_cannot_be_asked_to_rate(page: str, client_of: Any, lead: Any, outsider: Any) -> None:
    assert client_of(lead).post(page, _sent(outsider)).status_code == 422


def test_only_a_lead_makes_rounds(page: str, client_of: Any, engineer: Any) -> None:
    assert client_of(engineer).get(page).status_code == 403


@pytest.mark.parametrize("rows", ["x", "", "-1", "9" * 5000])
def test_a_number_of_rows_that_is_none(page: str, client_of: Any, lead: Any, rows: str) -> None:
    answer = client_of(lead).post(page, {**_sent(act="rows"), "grades-TOTAL_FORMS": rows})
    assert answer.status_code == 200
