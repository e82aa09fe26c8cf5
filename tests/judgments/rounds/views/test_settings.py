"""Tests of the round settings form: changes in an open round, errors, closed rounds."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.models import AuditRow, Round
from judgments.rounds import rounds
from judgments.rounds.forms import HANDING_OUT
from judgments.rounds.settings import RoundSettings

pytestmark = pytest.mark.django_db

# Each of the page's settings with a value that is not the usual one, as it is typed and as it is kept.
TYPED = {
    "extra_at": ("2", 2),
    "extra_most": ("3", 3),
    "breadth_first": ("on", True),
    "as_list": ("on", True),
    "walk_in": ("on", True),
    "by_language": ("on", True),
    "qualification": ("medicine", "medicine"),
}


def at(round_):
    return reverse("round_settings", args=[round_.uuid])


def test_every_setting_that_no_other_page_has_can_be_typed_in_an_open_round(client_of, make_round, lead, rater):
    round_ = make_round(raters=[rater])
    response = client_of(lead).post(at(round_), {name: typed for name, (typed, _) in TYPED.items()})
    assert response.status_code == 302
    now = Round.objects.get(pk=round_.pk)
    assert {name: getattr(now, name) for name in HANDING_OUT} == {name: stored for name, (_, stored) in TYPED.items()}
    assert set(AuditRow.objects.get(verb="round_settings.change").detail) == set(HANDING_OUT)


def test_an_unchanged_form_changes_nothing(client_of, make_round, lead, rater):
    round_ = make_round(raters=[rater], settings=RoundSettings(extra_at=2, as_list=True))
    form = client_of(lead).get(at(round_)).context["form"]
    values = {bound.name: bound.value() for bound in form}
    client_of(lead).post(at(round_), {name: value for name, value in values.items() if value not in (None, False)})
    assert not AuditRow.objects.filter(verb="round_settings.change").exists()


def test_settings_can_be_cleared(client_of, make_round, lead, rater):
    round_ = make_round(raters=[rater], settings=RoundSettings(extra_at=2, extra_most=2, walk_in=True))
    client_of(lead).post(at(round_), {"extra_at": "", "extra_most": "", "qualification": ""})
    now = Round.objects.get(pk=round_.pk)
    assert (now.extra_at, now.walk_in) == (None, False)
    assert now.extra_most == 2, "an empty number that may not be empty stays"


def test_settings_outside_the_scale_are_reported_by_field(client_of, make_round, lead, rater):
    round_ = make_round(raters=[rater])
    shown = client_of(lead).post(at(round_), {"extra_at": "7", "extra_most": "1"})
    assert shown.status_code == 422
    assert "Grades of this scale differ by at most 3" in shown.content.decode()
    assert Round.objects.get(pk=round_.pk).extra_at is None


def test_a_closed_round_shows_them_and_refuses_a_change(client_of, make_round, lead, rater):
    round_ = make_round(raters=[rater])
    client = client_of(lead)
    rounds.close_round(round_, actor=lead)
    shown = client.get(at(round_)).content.decode()
    assert "you can’t change these settings" in shown
    assert "Save settings" not in shown
    late = client.post(at(round_), {"walk_in": "on", "extra_most": "1"})
    assert late.status_code == 409
    assert "is closed" in late.content.decode()
    assert not Round.objects.get(pk=round_.pk).walk_in


def test_the_round_shows_its_settings_and_links_leads_to_the_form(client_of, make_round, lead, engineer, rater):
    rater.memberships.update(qualifications=["medicine"])
    round_ = make_round(raters=[rater], settings=RoundSettings(extra_at=2, qualification="medicine"))
    progress = reverse("round_progress", args=[round_.uuid])
    shown = client_of(lead).get(progress).content.decode()
    assert at(round_) in shown
    assert "when grades differ by 2 or more" in shown
    assert "medicine" in shown
    assert at(round_) not in client_of(engineer).get(progress).content.decode()
