"""Tests of collection actions: create, update, add and remove members, keep at least one lead."""

from __future__ import annotations

import pytest

from assay.core.errors import Conflict, NotValid
from judgments.members import collections
from judgments.models import AuditRow, Collection, Role

pytestmark = pytest.mark.django_db


def role_of(collection, user):
    return collection.memberships.values_list("role", flat=True).filter(user=user).first()


def test_creators_lead_their_collection(outsider):
    made = collections.create_collection(actor=outsider, slug="mine", name=" Mine ")
    assert (made.name, role_of(made, outsider)) == ("Mine", Role.LEAD)


def test_making_is_on_record(outsider):
    made = collections.create_collection(actor=outsider, slug="mine", name="Mine")
    row = AuditRow.objects.get(collection=made)
    assert (row.verb, row.actor, row.target_uuid) == ("collections.create_collection", outsider, made.uuid)


@pytest.mark.parametrize(
    ("slug", "name", "field"),
    [("new", "Mine", "slug"), ("", "Mine", "slug"), ("a b", "Mine", "slug"), ("x", " ", "name")],
)
def test_making_needs_a_free_address_and_a_name(outsider, slug, name, field):
    with pytest.raises(NotValid) as refused:
        collections.create_collection(actor=outsider, slug=slug, name=name)
    assert field in refused.value.fields


def test_taken_address_is_a_conflict_and_leaves_nothing(collection, outsider):
    with pytest.raises(Conflict, match="shop is taken"):
        collections.create_collection(actor=outsider, slug="shop", name="Mine")
    assert Collection.objects.count() == 1
    assert not AuditRow.objects.exists()


def test_update_changes_only_what_is_given(collection, lead):
    collections.update_collection(collection, actor=lead, name="Site search")
    collection.refresh_from_db()
    assert (collection.name, collection.slug) == ("Site search", "shop")
    assert AuditRow.objects.get().detail == {"before": {"name": "Shop search"}, "after": {"name": "Site search"}}


def test_update_with_nothing_new_is_not_on_record(collection, lead):
    collections.update_collection(collection, actor=lead, name="Shop search", description="")
    assert not AuditRow.objects.exists()


def test_add_member(collection, lead, outsider):
    collections.add_member(collection, actor=lead, username="otto", role="rater")
    assert role_of(collection, outsider) == "rater"
    assert AuditRow.objects.get().sentence == "lena added otto as rater"


@pytest.mark.parametrize(("name", "role", "field"), [("nemo", "rater", "username"), ("otto", "boss", "role")])
def test_add_member_needs_a_user_and_a_role(collection, lead, outsider, name, role, field):
    with pytest.raises(NotValid) as refused:
        collections.add_member(collection, actor=lead, username=name, role=role)
    assert field in refused.value.fields


def test_adding_a_member_again_is_a_conflict(collection, lead, rater):
    with pytest.raises(Conflict, match="already a member"):
        collections.add_member(collection, actor=lead, username="rosa", role="lead")
    assert role_of(collection, rater) == "rater"


def test_change_role_is_on_record_with_the_one_before(collection, lead, rater):
    collections.change_role(collection.memberships.get(user=rater), actor=lead, role="engineer")
    assert role_of(collection, rater) == "engineer"
    assert AuditRow.objects.get().detail == {"before": "rater", "role": "engineer"}


def test_last_lead_cannot_be_removed(collection, lead):
    with pytest.raises(Conflict, match="only lead"):
        collections.remove_member(collection.memberships.get(user=lead), actor=lead)
    assert role_of(collection, lead) == "lead"


def test_last_lead_cannot_step_down(collection, lead):
    with pytest.raises(Conflict, match="only lead"):
        collections.change_role(collection.memberships.get(user=lead), actor=lead, role="rater")


def test_one_of_two_leads_can_go(collection, lead, engineer):
    collections.change_role(collection.memberships.get(user=engineer), actor=lead, role="lead")
    collections.remove_member(collection.memberships.get(user=lead), actor=engineer)
    assert role_of(collection, lead) is None
