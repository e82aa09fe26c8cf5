"""Tests of the Django admin: operators manage the server but can't change events or read grades."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.urls import reverse

from judgments.guidelines import guidelines
from judgments.members.tokens import make_token
from judgments.models import ApiToken, AuditRow, Collection, GuidelinesVersion, Judgment, Membership, Snapshot
from judgments.models.fields import EventModel

pytestmark = pytest.mark.django_db


def _page(model: Any, act: str = "changelist", *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{act}", args=args)


@pytest.mark.parametrize("model", list(admin.site._registry), ids=lambda model: model.__name__)
def test_every_list_opens(model: Any, client_of: Any, operator: Any, collection: Any) -> None:
    assert client_of(operator).get(_page(model)).status_code == 200


def test_the_rest_of_the_staff_stays_outside(client_of: Any, lead: Any) -> None:
    assert client_of(lead).get(_page(Collection)).status_code == 302


@pytest.mark.parametrize("model", [model for model in admin.site._registry if issubclass(model, EventModel)])
def test_events_are_neither_added_nor_changed(model: Any, client_of: Any, operator: Any) -> None:
    assert client_of(operator).get(_page(model, "add")).status_code == 403


@pytest.mark.parametrize("model", [Judgment, Snapshot])
def test_grades_do_not_appear(model: Any) -> None:
    shown = str(admin.site._registry[model].list_display)
    assert not any(word in shown for word in ("grade", "note", "reason", "sha256", "__str__"))


def test_the_text_of_guidelines_does_not_appear(client_of: Any, operator: Any, collection: Any, lead: Any) -> None:
    """A version can show the grade of a pair that the operator, a rater too, still has to grade."""
    row = guidelines.add_version(collection, actor=lead, markdown="Tarps are 2.")
    browser = client_of(operator)
    assert browser.get(_page(GuidelinesVersion, "change", row.pk)).status_code == 403
    assert browser.get(_page(GuidelinesVersion, "history", row.pk)).status_code == 403
    assert b"Tarps" not in browser.get(_page(GuidelinesVersion)).content


def test_no_filter_of_an_address_tells_a_grade(
    client_of: Any, operator: Any, collection: Any, lead: Any, rater: Any, make_round: Any, rate_all: Any
) -> None:
    """Django's admin filters by every column, shown or not: by grade, by the first letters of a text or a hash."""
    rate_all(make_round(raters=[rater]), rater)
    browser = client_of(operator)
    hidden = {
        Judgment: ("grade=1", "grade__gte=1", "pair=1", "pair__slots__isnull=False", "note__contains=a"),
        GuidelinesVersion: ("markdown__contains=a", "sha256__startswith=a"),
        Snapshot: ("content_sha256__startswith=a",),
    }
    for model, filters in hidden.items():
        for query in filters:
            answer = browser.get(f"{_page(model)}?{query}")
            assert (answer.status_code, answer.get("Location", "")[-3:]) in ((400, ""), (302, "e=1")), query
    answer = browser.get(f"{_page(Judgment)}?state__exact=graded")
    assert (answer.status_code, answer.context["cl"].result_count) == (200, Judgment.objects.count())


def test_a_judgment_has_no_page_of_its_own(
    client_of: Any, operator: Any, rater: Any, make_round: Any, rate_all: Any
) -> None:
    rate_all(make_round(raters=[rater]), rater)
    page = client_of(operator).get(_page(Judgment, "change", Judgment.objects.first().pk))
    assert page.status_code == 403
    assert client_of(operator).get(_page(Judgment)).status_code == 200


def test_the_admin_changes_roles_by_the_action(client_of: Any, operator: Any, collection: Any, rater: Any) -> None:
    row = Membership.objects.get(collection=collection, user=rater)
    client_of(operator).post(_page(Membership, "change", row.pk), {"role": "engineer"})
    row.refresh_from_db()
    assert row.role == "engineer"
    assert AuditRow.objects.get(verb="collections.change_role").actor == operator


def test_the_admin_adds_members_by_the_action(client_of: Any, operator: Any, collection: Any, outsider: Any) -> None:
    form_data = {"user": outsider.pk, "collection": collection.pk, "role": "rater"}
    client_of(operator).post(_page(Membership, "add"), form_data)
    assert Membership.objects.filter(user=outsider, role="rater").count() == 1
    assert AuditRow.objects.filter(verb="collections.add_member").count() == 1


def test_the_last_lead_stays(client_of: Any, operator: Any, collection: Any, lead: Any) -> None:
    row = Membership.objects.get(collection=collection, user=lead)
    page = client_of(operator).post(_page(Membership, "change", row.pk), {"role": "rater"}, follow=True)
    assert "only lead" in page.content.decode()
    assert client_of(operator).post(_page(Membership, "delete", row.pk), {"post": "yes"}).status_code == 403
    row.refresh_from_db()
    assert row.role == "lead"


def test_the_admin_removes_members_by_the_action(client_of: Any, operator: Any, collection: Any, rater: Any) -> None:
    row = Membership.objects.get(collection=collection, user=rater)
    client_of(operator).post(_page(Membership, "delete", row.pk), {"post": "yes"})
    assert AuditRow.objects.filter(verb="collections.remove_member").count() == 1


def test_the_admin_renames_collections_by_the_action(client_of: Any, operator: Any, collection: Any) -> None:
    form_data = {"name": "Shop", "description": "", "embedding_changed_at_0": "", "embedding_changed_at_1": ""}
    client_of(operator).post(_page(Collection, "change", collection.pk), form_data)
    assert AuditRow.objects.get(verb="collections.update_collection").collection == collection


def test_a_token_is_revoked_and_never_shown(client_of: Any, operator: Any, engineer: Any) -> None:
    token, _ = make_token(engineer, name="nightly", scopes=["read"])
    client = client_of(operator)
    assert token.digest not in client.get(_page(ApiToken, "change", token.pk)).content.decode()
    client.post(_page(ApiToken), {"action": "revoke", "_selected_action": [token.pk]})
    token.refresh_from_db()
    assert token.revoked_at is not None
