"""Tests of slots no rater may take: reported with the raters needed, left out of remaining hours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from judgments.agreement import round_report
from judgments.models import Membership, Query, Round
from judgments.progress.progress import progress
from judgments.quality import pausing
from judgments.rounds import rounds, unfillable_slots
from judgments.rounds.settings import RoundSettings

pytestmark = pytest.mark.django_db


@pytest.fixture
def short(make_round: Callable[..., Round], rate_all: Callable[..., int], rater: Any, rater2: Any) -> Round:
    """Six pairs want three ratings each; of two raters one has given all of theirs, ten seconds each."""
    made = make_round(raters=[rater, rater2], ratings_per_pair=3)
    rate_all(made, rater, seconds_active=10.0)
    return made


def words(round_: Round) -> list[str]:
    return [shortage.words for shortage in unfillable_slots.shortages(Round.objects.get(pk=round_.pk))]


def test_a_rater_grades_a_pair_once(short: Round, rater3: Any, lead: Any) -> None:
    assert words(short) == ["6 ratings that no current rater can give. Invite another rater."]
    report = progress(short)
    assert (report.left, report.stranded, report.within_reach) == (12, 6, 6)
    # The other rater's six ratings, and no more.
    assert report.hours_left == pytest.approx(60 / 3600, rel=0.05)
    assert sorted(one.left for one in report.raters) == [0, 6]
    rounds.invite(short, [rater3], actor=lead)
    assert words(short) == []
    assert progress(short).hours_left == pytest.approx(120 / 3600, rel=0.05)
    rounds.close_round(short, actor=lead)
    assert words(short) == []


def test_page_and_api_report_missing_ratings(
    short: Round, client_of: Any, api_of: Any, rate_all: Callable[..., int], lead: Any, engineer: Any, rater2: Any
) -> None:
    rate_all(short, rater2)
    address = reverse("round_progress", args=[short.uuid])
    page = " ".join(client_of(lead).get(address).content.decode().split())
    assert "6 ratings that no current rater can give. Invite another rater." in page
    assert 'href="#raters">Add raters' in page
    assert "6 left, 6 of them without an eligible rater" in page
    assert "no eligible rater for the rest" in page
    assert 'href="#raters"' not in client_of(engineer).get(address).content.decode()
    body = api_of(engineer).get(f"/api/v1/rounds/{short.uuid}/progress/").json()
    assert (body["stranded"], body["hours_left"]) == (6, 0)
    assert body["stranded_by_language"] == [{"language": "", "ratings": 6, "raters_missing": 1}]


def test_shortages_name_the_missing_languages(
    make_round: Callable[..., Round], collection: Any, rater: Any, rater2: Any, lead: Any
) -> None:
    for number, language in enumerate(["de", "pt-BR", ""], 1):
        Query.objects.create(collection=collection, query_id=f"q{number}", text=f"query {number}", language=language)
    for user, reads in ((rater, ["de"]), (rater2, ["fr"])):
        Membership.objects.filter(user=user).update(languages=reads)
    made = make_round(raters=[rater, rater2], queries=3, documents=4, settings=RoundSettings(by_language=True))
    assert words(made) == [
        "4 ratings that no current rater can give. Invite another rater who reads German.",
        "8 ratings that no current rater can give. Invite 2 more raters who read Brazilian Portuguese.",
    ]
    pausing.pause(made.raters.get(user=rater), reason="Let us talk.", actor=lead)
    name = made.raters.get(user=rater).pseudonym
    assert words(made)[:2] == [
        f"4 ratings that no current rater can give. Invite another rater, or resume {name}, who is paused.",
        "8 ratings that no current rater can give. Invite 2 more raters who read German, "
        f"or resume {name}, who is paused.",
    ]


def test_a_rater_with_excluded_judgments_gives_none_again(
    make_round: Callable[..., Round], rate_all: Callable[..., int], rater: Any, rater2: Any, lead: Any
) -> None:
    made = make_round(raters=[rater, rater2])
    for user in (rater, rater2):
        rate_all(made, user)
    assert words(made) == []
    pausing.requeue(
        made.raters.get(user=rater), pausing.JudgmentFilter(queries=("q1",)), reason="Too quick.", actor=lead
    )
    assert words(made) == ["3 ratings that no current rater can give. Invite another rater."]


def test_raters_who_can_join_are_counted(
    make_round: Callable[..., Round], rater: Any, rater2: Any, rater3: Any, lead: Any
) -> None:
    made = make_round(raters=[rater], settings=RoundSettings(walk_in=True, qualification=""))
    assert words(made) == []
    Round.objects.filter(pk=made.pk).update(qualification="tents")
    assert words(made) == [
        "6 ratings that no current rater can give. Invite another rater with the qualification tents."
    ]
    Membership.objects.filter(user=rater3).update(qualifications=["tents"])
    assert words(made) == []


def test_a_large_round_uses_its_last_report(
    short: Round, monkeypatch: pytest.MonkeyPatch, rater2: Any, rate_all: Callable[..., int]
) -> None:
    monkeypatch.setattr(unfillable_slots, "AT_ONCE", 1)
    assert words(short) == []
    round_report.exact(short)
    assert words(short) == ["6 ratings that no current rater can give. Invite another rater."]
    # Who rates is read anew each time.
    short.raters.filter(user=rater2).delete()
    assert words(short) == ["12 ratings that no current rater can give. Invite 2 more raters."]
    monkeypatch.setattr(unfillable_slots, "MOST_KINDS", 0)
    rate_all(short, short.raters.get().user)
    assert unfillable_slots.kinds(short) is None


def test_a_round_without_raters_reports_nothing(make_round: Callable[..., Round]) -> None:
    made = make_round(raters=[], opened=False)
    assert (words(made), progress(made).stranded) == ([], 0)
