"""Tests of conflicts by keyboard without a script, fragments for the script, and the page of the label rule."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.urls import reverse

from judgments.agreement import resolutions
from judgments.models import Adjudication, AuditRow, Round

pytestmark = pytest.mark.django_db


@pytest.fixture
def differing(make_round: Any, rater: Any, rater2: Any, rate_all: Any) -> Round:
    """Six conflicts: the first one of three steps, the others of one."""
    round_ = make_round(raters=[rater, rater2])
    rate_all(round_, rater, grade=lambda pair: 0 if pair.position == 0 else 1)
    rate_all(round_, rater2, grade=lambda pair: 3 if pair.position == 0 else 2)
    return round_


def page(round_: Round, name: str = "conflicts_keyboard") -> str:
    return reverse(name, args=[round_.uuid])


def sent(pair: Any, grade: int, **more: str) -> dict[str, Any]:
    return {"pair": pair.uuid, "client_id": uuid.uuid4(), "grade": grade, **more}


def test_the_form_resolves_keeps_the_reason_and_undoes(client_of: Any, differing: Round, lead: Any) -> None:
    client, url = client_of(lead), page(differing)
    shown = client.get(url).context
    assert (shown["pair"].position, shown["undoable"]) == (0, False)
    body = sent(shown["pair"], 1, template="A rater made a mistake", reason="Half of it.")
    assert client.post(url, {**body, "template": "", "reason": ""}).url.endswith(str(shown["pair"].uuid))
    for _ in range(2):  # sent twice, recorded once
        assert client.post(url, body).url == url
    assert Adjudication.objects.get().reason == "A rater made a mistake. Half of it."
    shown = client.get(url).context
    assert (shown["pair"].position, shown["template"], shown["text"]) == (1, "A rater made a mistake", "Half of it.")
    assert (shown["card"].place, shown["card"].total, shown["undoable"]) == (2, 6, True)
    back = client.post(url, {"undo": "1"}).url
    assert client.get(back).context["pair"].position == 0
    assert not Adjudication.objects.current().exists()


def test_the_form_replaces_no_resolution_of_somebody_else(
    client_of: Any, differing: Round, lead: Any, make_user: Any
) -> None:
    pair = differing.pairs.get(position=0)
    other = make_user("lars")
    resolutions.resolve(pair, grade=2, actor=other, reason="So.")
    client_of(lead).post(page(differing), sent(pair, 1, reason="No."))
    assert Adjudication.objects.current().get(pair=pair).grade == 2


def test_the_script_gets_conflicts_that_it_does_not_have(client_of: Any, differing: Round, lead: Any) -> None:
    first, second, *_ = differing.pairs.order_by("position")
    resolutions.resolve(second, grade=2, actor=lead, reason="So.")
    url = page(differing, "conflicts_keyboard_next")
    body = client_of(lead).post(url, {"have": [first.uuid, second.uuid, "?"]}).json()
    assert [card["place"] for card in body["cards"]] == [f"{place} of 6" for place in (3, 4, 5, 6)]
    assert body["gone"] == [str(second.uuid)]
    assert client_of(lead).post(f"{url}?steps=2").json()["cards"][0]["pair"] == str(first.uuid)


def test_conflicts_show_grades_by_pseudonym_only(client_of: Any, differing: Round, lead: Any, rater: Any) -> None:
    card = client_of(lead).post(page(differing, "conflicts_keyboard_next")).json()["cards"][0]
    assert card["grades"] == "0, 3"
    assert differing.raters.get(user=rater).pseudonym in card["document"]
    assert rater.username not in card["document"]


def test_leads_who_may_still_grade_see_no_conflict(
    client_of: Any, make_round: Any, lead: Any, rater: Any, rater2: Any, rate_all: Any
) -> None:
    round_ = make_round(raters=[lead, rater, rater2], ratings_per_pair=3)
    rate_all(round_, rater, grade=0)
    rate_all(round_, rater2, grade=3)
    client = client_of(lead)
    assert client.get(page(round_)).url == reverse("conflicts", args=[round_.uuid])
    assert client.post(page(round_, "conflicts_keyboard_next")).json() == {"cards": [], "gone": []}
    client.post(page(round_), sent(round_.pairs.first(), 1, reason="x"))
    assert not Adjudication.objects.exists()


def test_the_rule_page_previews_resolves_and_undoes(client_of: Any, differing: Round, lead: Any) -> None:
    client, url = client_of(lead), page(differing, "conflicts_by_rule")
    shown = client.get(f"{url}?rule=max").context
    assert (shown["preview"].count, shown["preview"].by_grade) == (5, {2: 5})
    form = shown["form"]
    body = {name: form[name].value() for name in ("rule", "previewed_at", "client_id")}
    resolutions.resolve(differing.pairs.get(position=1), grade=1, actor=lead, reason="So.")
    for _ in range(2):
        assert client.post(url, body).url == url
    act = AuditRow.objects.get(verb="adjudication.by_rule")
    assert (act.detail["resolved"], act.detail["skipped_resolved"]) == (4, 1)
    assert client.get(url).context["acts"][0][0].standing == 4
    assert client.post(url, {**body, "client_id": uuid.uuid4()}).status_code == 409
    client.post(reverse("conflicts_by_rule_undo", args=[differing.uuid, act.uuid]))
    assert Adjudication.objects.current().count() == 1


def test_the_list_leads_to_its_conflicts_by_keyboard(client_of: Any, differing: Round, lead: Any) -> None:
    html = client_of(lead).get(f"{page(differing, 'conflicts')}?steps=2").content.decode()
    assert f'href="{page(differing)}?steps=2"' in html
