"""Tests of login and logout: safe redirects, wrong passwords, POST only."""

from __future__ import annotations

import pytest
from django.urls import reverse

pytestmark = pytest.mark.django_db


def log_in(client, password, **more):
    return client.post(reverse("login"), {"username": "lena", "password": password, **more})


def test_right_password_leads_home(client, lead):
    assert log_in(client, "pass").url == reverse("home")


def test_login_leads_to_the_requested_page(client, lead):
    response = client.get(reverse("tokens"))
    assert response.url == "/login/?next=/tokens/"
    assert log_in(client, "pass", next="/tokens/").url == "/tokens/"


def test_stranger_cannot_send_people_elsewhere(client, lead):
    assert log_in(client, "pass", next="https://elsewhere.example/").url == reverse("home")


def test_wrong_password_is_answered_with_the_form(client, lead):
    response = log_in(client, "wrong")
    assert response.status_code == 422
    assert response.context["form"].non_field_errors()


def test_logging_out_is_a_post(client_of, lead):
    client = client_of(lead)
    assert client.get(reverse("logout")).status_code == 405
    assert client.post(reverse("logout")).url == reverse("login")
    assert client.get(reverse("home")).status_code == 302
