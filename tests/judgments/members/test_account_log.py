"""Tests of the account audit: logins, logouts, failed attempts and account changes."""

from __future__ import annotations

from base64 import b64encode
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from judgments.models import AuditRow, User

pytestmark = pytest.mark.django_db


def acts() -> list[tuple[str, str | None, str | None]]:
    """Verb, actor and whose account, the oldest first."""
    names = dict(User.objects.values_list("uuid", "username"))
    rows = AuditRow.objects.filter(verb__startswith="accounts.").order_by("pk").select_related("actor")
    return [
        (row.verb.partition(".")[2], str(row.actor) if row.actor else None, names.get(row.target_uuid)) for row in rows
    ]


@pytest.mark.parametrize("page", ["/login/", "/admin/login/"])
def test_log_in_and_out(operator: User, page: str) -> None:
    browser = Client(REMOTE_ADDR="203.0.113.5")
    browser.post(page, {"username": "oskar", "password": "wrong"})
    browser.post(page, {"username": "pass", "password": "oskar"})  # typed into the wrong fields
    browser.post(page, {"username": "oskar", "password": "pass"})
    browser.post("/admin/logout/" if "admin" in page else "/logout/")
    assert acts() == [
        ("log_in_failed", None, "oskar"),
        ("log_in_failed", None, None),
        ("log_in", "oskar", "oskar"),
        ("log_out", "oskar", "oskar"),
    ]
    rows = AuditRow.objects.filter(verb__startswith="accounts.")
    assert {row.detail["address"] for row in rows} == {"203.0.113.5"}
    assert not any("for pass" in row.sentence or "pass" in str(row.detail.values()) for row in rows)


def test_the_api_and_old_passwords(lead: User, client_of: Any) -> None:
    for password in ("wrong", "pass"):
        header = b64encode(f"lena:{password}".encode()).decode()
        Client().post("/api/v1/tokens/", {"name": "x"}, headers={"Authorization": f"Basic {header}"})
    browser = client_of(lead)
    new = {"new_password1": "a-long-new-word", "new_password2": "a-long-new-word"}
    browser.post("/password/", {"old_password": "wrong", **new})
    browser.post("/password/", {"old_password": "pass", **new})
    verbs = [verb for verb, _, _ in acts()]
    assert verbs == ["log_in_failed", "log_in", "log_in_failed", "log_in", "change_password"]


def test_blocked_logins_add_no_rows(lead: User) -> None:
    for _ in range(20):
        Client().post("/login/", {"username": "lena", "password": "wrong"})
    assert 10 <= len(acts()) < 20


def test_changes_in_the_admin(operator: User, lead: User, client_of: Any) -> None:
    browser = client_of(operator)
    form = {"username": "lena", "email": "", "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    page = reverse("admin:judgments_user_change", args=[lead.pk])
    group = Group.objects.create(name="helpers")
    response = browser.post(page, {**form, "is_active": "on", "is_staff": "on", "groups": [group.pk]})
    assert response.status_code == 302, response.context["errors"]
    row = AuditRow.objects.get(verb="accounts.changed")
    assert row.actor == operator
    assert row.detail == {
        "before": {"is_staff": False, "can_create_collections": True, "groups": []},
        "after": {"is_staff": True, "can_create_collections": False, "groups": ["helpers"]},
    }
    browser.post(page, {**form, "is_active": "on", "is_staff": "on", "groups": [group.pk]})
    assert AuditRow.objects.filter(verb="accounts.changed").count() == 1  # nothing was changed
    new = {"password1": "a-long-new-word", "password2": "a-long-new-word", "usable_password": "true"}
    browser.post(reverse("admin:auth_user_password_change", args=[lead.pk]), {**new, "password2": "other"})
    browser.post(reverse("admin:auth_user_password_change", args=[lead.pk]), new)
    made = {"username": "newt", "usable_password": "true", "password1": "a-long-word", "password2": "a-long-word"}
    browser.post(reverse("admin:judgments_user_add"), made)
    browser.post(reverse("admin:auth_group_change", args=[group.pk]), {"name": "others"})
    browser.post(reverse("admin:auth_group_delete", args=[group.pk]), {"post": "yes"})
    assert acts() == [
        ("changed", "oskar", "lena"),
        ("change_password", "oskar", "lena"),
        ("added", "oskar", "newt"),
        ("changed", "oskar", None),
        ("deleted", "oskar", None),
    ]
    assert not any("word" in str(row.detail) for row in AuditRow.objects.all())


@pytest.mark.parametrize("spelt", [" {}", "{} ", "+{}", "0{}"])
def test_a_password_changed_at_another_spelling_of_the_address(
    operator: User, lead: User, client_of: Any, spelt: str
) -> None:
    """The admin reads a number with spaces around it, or a sign before it, as the number."""
    new = {"password1": "a-long-new-word", "password2": "a-long-new-word", "usable_password": "true"}
    before = User.objects.get(pk=lead.pk).password
    client_of(operator).post(f"/admin/judgments/user/{quote(spelt.format(lead.pk))}/password/", new)
    assert User.objects.get(pk=lead.pk).password != before
    assert acts() == [("change_password", "oskar", "lena")]
