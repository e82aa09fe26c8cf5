"""Tests of the agreement page below the gate: each advised step links to the right page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import Count
from django.test import Client
from django.urls import reverse

from assay.coefficients.gate import decide
from judgments.models import Round, RoundReport
from judgments.rounds import rounds
from tests.cached_rows import cached_fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
@cached_fixture
def failed(make_round: Callable[..., Round], rate_all: Callable[..., int], rater: Any, rater2: Any, lead: Any) -> Round:
    """A closed round: on half of the pairs the second rater is two steps off."""
    made = make_round(raters=[rater, rater2], queries=40, documents=5)
    rate_all(made, rater, grade=lambda pair: pair.position % 4)
    rate_all(made, rater2, grade=lambda pair: (pair.position + 2 * (pair.position % 3 > 0)) % 4)
    return rounds.close_round(made, actor=lead)


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def link(page: str, words: str) -> str:
    """Where a link, or the form of a button, with these words leads to."""
    match = re.search(rf'<a href="([^"]+)">[^<]*{words}', page)
    match = match or re.search(rf'action="([^"]+)">(?:(?!</form>).)*{words}', page)
    assert match, words
    return match[1]


def form_data(form: Any, **fields: Any) -> dict[str, Any]:
    """What a browser sends of a form as it came, with these fields filled in."""
    there = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in there.items() if value is not None} | fields


def test_the_steps_lead_to_a_round_with_the_overlap(failed: Round, client_of: Callable[..., Client], lead: Any) -> None:
    client, address = client_of(lead), reverse("round_agreement", args=[failed.uuid])
    page = text(client.get(address))
    assert client.get(address).context["gate"].state == "failed"
    positions = [
        page.index(step) for step in ("Clarify the edge cases.", "Calibrate:", "Judge the overlapping pairs again.")
    ]
    assert positions == sorted(positions)
    # Resolve one of the conflicts, and make it an example.
    conflicts = client.get(link(page, "Resolve"))
    pair = failed.pairs.filter(spread__gt=0).first()
    one = reverse("conflict", args=[failed.uuid, pair.uuid])
    assert one in conflicts.content.decode()
    answered = client.post(one, {"grade": 1, "reason": "Only a part of it.", "example": "on"})
    assert answered.status_code == 302
    # Write it into a new version.
    version = link(page, "a new version of the guidelines")
    form = client.get(version).context["form"]
    assert client.post(version, form_data(form)).status_code == 302
    # One button makes the round.
    made = client.post(link(text(client.get(address)), "Create draft round of 200 pairs under version 2"), follow=True)
    again: Round = made.context["round"]
    others = failed.pairs.exclude(pk=pair.pk)
    assert (again.state, again.guidelines.number, again.pairs_made) == ("draft", 2, 199)
    keys = ("query", "document")
    assert set(again.pairs.values_list(*keys)) == set(others.values_list(*keys))
    assert set(again.raters.values_list("user", flat=True)) == set(failed.raters.values_list("user", flat=True))
    twice = again.pairs.annotate(places=Count("slots")).filter(places=2)
    assert twice.count() == again.pairs.count()
    # The page says so from now on, and raters calibrate by what was settled.
    page = text(client.get(address))
    assert "Create draft" not in page
    assert link(page, re.escape(again.name)) == reverse("round_progress", args=[again.uuid])
    known = client.get(link(page, "have raters grade gold pairs"))
    assert known.context["round"] == again
    assert pair.document.title in known.content.decode()


def test_a_draft_made_under_older_guidelines_is_no_answer_to_newer_ones(
    failed: Round, client_of: Callable[..., Client], lead: Any
) -> None:
    client, address = client_of(lead), reverse("round_agreement", args=[failed.uuid])
    version = reverse("guidelines_new", args=[failed.collection.slug])
    for number in (2, 3):
        client.post(version, {"markdown": f"# Clearer {number}"})
        page = text(client.get(address))
        client.post(link(page, f"Create draft round of 200 pairs under version {number}"))
    assert Round.objects.count() == 3


@pytest.fixture
@cached_fixture
def straddling(
    make_round: Callable[..., Round], rate_all: Callable[..., int], rater: Any, rater2: Any, client_of: Any, lead: Any
) -> Round:
    """An open round of forty queries whose gate stands inside the interval."""
    made = make_round(raters=[rater, rater2], queries=40, documents=5)
    rate_all(made, rater, grade=lambda pair: pair.position % 4)
    rate_all(made, rater2, grade=lambda pair: (pair.position + (pair.position % 7 > 3)) % 4)
    headline = client_of(lead).get(reverse("round_agreement", args=[made.uuid])).context["headline"]
    threshold = (headline.value + headline.low) / 2
    Round.objects.filter(pk=made.pk).update(gate_threshold=threshold)
    made.refresh_from_db()
    return made


def test_a_closed_round_gets_no_advice_for_more_overlap(
    straddling: Round, client_of: Callable[..., Client], api_of: Any, lead: Any, engineer: Any
) -> None:
    client, address = client_of(lead), reverse("round_agreement", args=[straddling.uuid])
    before = client.get(address)
    needed = before.context["gate"].needed
    assert needed == 200 + before.context["gate"].more_pairs > 200
    page = text(before)
    assert "more overlapping pairs, with the same number of pairs per query" in page
    assert f"No more pairs of this round will get a second rating. A round with about {needed:,}" in page
    rounds.close_round(straddling, actor=lead)
    page = text(client.get(address))
    assert "more overlapping pair" not in page
    assert f"A round with about {needed:,} overlapping pairs, with the same number of pairs per query" in page
    assert link(page, "Create the next round") == reverse("round_new", args=[straddling.collection.slug])
    assert "Create the next round" not in text(client_of(engineer).get(address))
    gate = api_of(engineer).get(f"/api/v1/rounds/{straddling.uuid}/agreement/").json()["gate"]
    assert "The round is closed, so this stays undecided." in gate["advice"]
    assert gate["state"] == "undecided"


def test_rating_on_is_the_advice_while_enough_is_to_come(
    straddling: Round, client_of: Callable[..., Client], lead: Any
) -> None:
    more = client_of(lead).get(reverse("round_agreement", args=[straddling.uuid])).context["gate"].more_pairs
    advice = ((more, ". Finishing them will probably decide"), (more - 1, ", which is probably not enough"))
    for coming, message in advice:
        row = RoundReport.objects.get(round=straddling)
        RoundReport.objects.update(report={**row.report, "overlap_to_come": coming})
        page = text(client_of(lead).get(reverse("round_agreement", args=[straddling.uuid])))
        assert re.search(rf"{coming:,} pairs( of this round)? still need a second rating{message}", page)


def test_a_closed_round_without_overlap_gets_no_advice_to_wait(
    make_round: Callable[..., Round], client_of: Callable[..., Client], rater: Any, rater2: Any, lead: Any
) -> None:
    made = make_round(raters=[rater, rater2])
    address = reverse("round_agreement", args=[made.uuid])
    assert "Wait until the first pairs have two grades" in text(client_of(lead).get(address))
    rounds.close_round(made, actor=lead)
    page = text(client_of(lead).get(address))
    assert "The round is closed, so agreement stays undefined. In the next round, collect two ratings" in page


def test_little_overlap_of_a_closed_round_names_what_another_needs() -> None:
    leaf = {"value": 0.9, "low": 0.7, "high": 1.0, "n": 20, "reason": None}
    report = {"coefficients": {"ac1": leaf}, "overlap_queries": 10}
    message = decide(report, "ac1", 0.6, over=True).advice
    assert "A round with about 200 overlapping pairs, from 30 queries or more" in message
