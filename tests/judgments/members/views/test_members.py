"""Tests of the members page: invitations, roles and removal, for leads only."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.models import MemberInvitation, User
from judgments.web import access

pytestmark = pytest.mark.django_db


def change(client, user, **fields):
    return client.post(reverse("member_change", args=["shop", user.uuid]), fields, follow=True)


def test_invited_people_become_members_by_accepting(client_of, collection, lead, outsider):
    client_of(lead).post(reverse("members", args=["shop"]), {"username": "otto", "role": "engineer"})
    assert access.role_in(outsider, collection) is None
    browser, invitation = client_of(outsider), MemberInvitation.objects.get()
    assert "Shop search" in browser.get("/").content.decode()
    browser.post(reverse("member_invitation", args=[invitation.uuid]), {"accept": "1"})
    assert access.role_in(outsider, collection) == "engineer"
    assert not MemberInvitation.objects.exists()


def test_an_unknown_name_looks_the_same(client_of, collection, lead, outsider):
    """Also the name of somebody who declined, or is switched off."""
    browser, page = client_of(lead), reverse("members", args=["shop"])
    User.objects.create(username="gone", is_active=False)
    texts = []
    for name in ("otto", "nemo", "gone"):
        response = browser.post(page, {"username": name, "role": "rater"}, follow=True)
        texts.append(
            (response.status_code, response.redirect_chain, str(*response.context["messages"]).replace(name, ""))
        )
    assert texts[0] == texts[1] == texts[2]
    invitation = MemberInvitation.objects.get(username="otto")
    before = browser.get(page).content.decode()
    client_of(outsider).post(reverse("member_invitation", args=[invitation.uuid]), {"decline": "1"})
    after = browser.get(page).content.decode()
    assert [name in after for name in ("otto", "nemo", "gone")] == [True] * 3
    assert before.count("<li") == after.count("<li")
    assert "Shop search" not in client_of(outsider).get("/").content.decode()


def test_a_name_that_is_taken_later_opens_nothing(client_of, collection, lead, make_user):
    client_of(lead).post(reverse("members", args=["shop"]), {"username": "nemo", "role": "lead"})
    nemo = make_user("nemo")
    assert "Shop search" not in client_of(nemo).get("/").content.decode()
    page = reverse("member_invitation", args=[MemberInvitation.objects.get().uuid])
    assert client_of(nemo).post(page, {"accept": "1"}).status_code == 404
    assert access.role_in(nemo, collection) is None


def test_a_lead_withdraws_an_invitation(client_of, collection, lead, outsider):
    browser = client_of(lead)
    browser.post(reverse("members", args=["shop"]), {"username": "otto", "role": "rater"})
    invitation = MemberInvitation.objects.get()
    browser.post(reverse("member_invitation_withdraw", args=["shop", invitation.uuid]))
    answer = client_of(outsider).post(reverse("member_invitation", args=[invitation.uuid]), {"accept": "1"})
    assert (answer.status_code, access.role_in(outsider, collection)) == (404, None)


def test_invitations_are_answered_only_by_the_invited_person(client_of, collection, lead, rater, outsider):
    client_of(lead).post(reverse("members", args=["shop"]), {"username": "otto", "role": "lead"})
    invitation = MemberInvitation.objects.get()
    for person in (rater, lead):
        assert (
            client_of(person).post(reverse("member_invitation", args=[invitation.uuid]), {"accept": "1"}).status_code
            == 404
        )
    assert access.role_in(outsider, collection) is None
    assert access.role_in(rater, collection) == "rater"


def test_by_program(api_of, collection, lead, outsider):
    base = "/api/v1/collections/shop"
    texts = [
        api_of(lead).post(f"{base}/members/", {"username": name, "role": "rater"}, format="json")
        for name in ("otto", "nemo")
    ]
    assert [(one.status_code, set(one.json())) for one in texts] == [(202, {"username", "role"})] * 2
    assert [row["username"] for row in api_of(lead).get(f"{base}/invitations/").json()["results"]] == ["nemo", "otto"]
    program = api_of(outsider)
    (mine,) = program.get("/api/v1/invitations/").json()["results"]
    assert (mine["collection"], mine["asked_by"]) == ("Shop search", "lena")
    assert program.post(f"/api/v1/invitations/{mine['id']}/").status_code == 201
    assert program.post(f"/api/v1/invitations/{mine['id']}/").status_code == 404
    again = api_of(lead).post(f"{base}/members/", {"username": "otto", "role": "rater"}, format="json")
    assert again.status_code == 409
    assert api_of(lead).get(f"{base}/invitations/").json()["count"] == 1


def test_change_of_role(client_of, collection, lead, rater):
    html = change(client_of(lead), rater, role="engineer").content.decode()
    assert "rosa now has the role engineer." in html
    assert access.role_in(rater, collection) == "engineer"


def test_remove(client_of, collection, lead, rater):
    change(client_of(lead), rater, remove="1")
    assert access.role_in(rater, collection) is None


def test_the_only_lead_cannot_be_removed(client_of, collection, lead):
    html = change(client_of(lead), lead, remove="1").content.decode()
    assert "the only lead" in html
    assert access.role_in(lead, collection) == "lead"


def test_engineer_sees_no_forms(client_of, collection, engineer):
    html = client_of(engineer).get(reverse("members", args=["shop"])).content.decode()
    assert reverse("member_change", args=["shop", engineer.uuid]) not in html
    assert "Only a lead can add" in html


def test_members_are_searched_by_name(client_of, collection, lead):
    listing = client_of(lead).get(reverse("members", args=["shop"]), {"q": "rud"}).context["listing"]
    assert [str(member.user) for member in listing.rows] == ["rudi"]
