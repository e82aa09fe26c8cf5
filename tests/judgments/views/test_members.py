"""Can a lead, and nobody else, say who belongs to the collection?"""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments import access
from judgments.models import Membership, User

pytestmark = pytest.mark.django_db


def change(client, user, **fields):
    return client.post(reverse("member_change", args=["shop", user.uuid]), fields, follow=True)


def test_add(client_of, collection, lead, outsider):
    client_of(lead).post(reverse("members", args=["shop"]), {"username": "otto", "role": "engineer"})
    assert access.role_in(outsider, collection) == "engineer"


def test_adding_nobody_says_so_at_the_field(client_of, collection, lead):
    response = client_of(lead).post(reverse("members", args=["shop"]), {"username": "nemo", "role": "rater"})
    assert response.status_code == 422
    assert "Nobody here has the user name" in response.context["form"].errors["username"][0]


def test_change_of_role(client_of, collection, lead, rater):
    html = change(client_of(lead), rater, role="engineer").content.decode()
    assert "rosa is engineer now." in html
    assert access.role_in(rater, collection) == "engineer"


def test_remove(client_of, collection, lead, rater):
    change(client_of(lead), rater, remove="1")
    assert access.role_in(rater, collection) is None


def test_only_lead_is_kept_and_told_why(client_of, collection, lead):
    html = change(client_of(lead), lead, remove="1").content.decode()
    assert "the only lead" in html
    assert access.role_in(lead, collection) == "lead"


def test_engineer_sees_no_forms(client_of, collection, engineer):
    html = client_of(engineer).get(reverse("members", args=["shop"])).content.decode()
    assert reverse("member_change", args=["shop", engineer.uuid]) not in html
    assert "Only a lead adds" in html


def test_many_members_come_in_pages_and_are_found(client_of, collection, lead):
    people = User.objects.bulk_create(User(username=f"rater-{n:03d}", email="") for n in range(60))
    Membership.objects.bulk_create(Membership(collection=collection, user=user, role="rater") for user in people)
    client = client_of(lead)
    page = client.get(reverse("members", args=["shop"]))
    assert len(page.context["listing"].rows) == 50
    found = client.get(reverse("members", args=["shop"]), {"q": "rater-059"}).context["listing"]
    assert [str(member.user) for member in found.rows] == ["rater-059"]
