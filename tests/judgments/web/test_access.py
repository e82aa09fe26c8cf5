"""Tests of access beyond roles and addresses: outsiders, jobs and ended memberships."""

from __future__ import annotations

import uuid

import pytest
from django.urls import reverse

from assay.core.errors import NotAllowed, NotFound
from judgments.guidelines import guidelines
from judgments.models import Job
from judgments.web import access

pytestmark = pytest.mark.django_db


def error_body(response):
    """The page without what is drawn anew for each answer."""
    return response.content.decode().replace(str(response.context["csrf_token"]), "")


def test_outsider_gets_the_same_404_as_for_a_missing_row(collection, outsider, client_of):
    hidden, nothing = (client_of(outsider).get(reverse("queries", args=[slug])) for slug in ("shop", "nothing"))
    assert (hidden.status_code, error_body(hidden)) == (nothing.status_code, error_body(nothing))


def test_collection_for_names_the_role_that_is_needed(collection, rater):
    with pytest.raises(NotAllowed, match=r"role lead or engineer.*is rater"):
        access.collection_for(rater, "shop", access.STAFF)


def test_collection_for_hides_from_outsiders(collection, outsider):
    with pytest.raises(NotFound):
        access.collection_for(outsider, "shop", access.EVERYBODY)


def test_jobs_without_a_collection_are_inaccessible(lead, collection):
    job = Job.objects.create(collection=None, kind="sweep", title="Sweep")
    with pytest.raises(NotFound):
        access.job_for(lead, job.uuid)


def test_unknown_uuid_raises_404(lead, collection):
    with pytest.raises(NotFound):
        access.round_for(lead, uuid.uuid4(), access.EVERYBODY)


def test_role_ends_with_the_membership(collection, engineer):
    collection.memberships.get(user=engineer).delete()
    assert access.role_in(engineer, collection) is None


def test_way_of_the_data_is_not_shown_to_raters(collection, lead, rater, engineer, client_of):
    version = guidelines.add_version(collection, actor=lead, markdown="# Grade it")
    page = reverse("guidelines_version", args=[version.uuid])
    assert b"Evaluation steps" in client_of(engineer).get(page).content
    assert b"Evaluation steps" not in client_of(rater).get(page).content
