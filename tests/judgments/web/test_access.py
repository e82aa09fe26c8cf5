"""Tests of access by role: pages, actions, outsiders, jobs and ended memberships."""

from __future__ import annotations

import uuid

import pytest
from django.urls import reverse

from assay.core.errors import NotAllowed, NotFound
from judgments.guidelines import guidelines
from judgments.models import Document, Job, Query
from judgments.web import access

pytestmark = pytest.mark.django_db

WHO = ("lead", "engineer", "rater", "outsider", None)
STAFF_ONLY = (200, 200, 403, 404, 302)
LEADS_ONLY = (200, 403, 403, 404, 302)

ANYBODY = (200, 200, 200, 200, 302)

# Page, statuses for lead, engineer, rater, outsider, nobody.
PAGES = {
    "home": ANYBODY,
    "tokens": ANYBODY,
    "collection_new": (200, 200, 403, 403, 302),
    "collection": STAFF_ONLY,
    "queries": STAFF_ONLY,
    "query": STAFF_ONLY,
    "documents": STAFF_ONLY,
    "document": STAFF_ONLY,
    "members": STAFF_ONLY,
    "activity": STAFF_ONLY,
    "jobs": STAFF_ONLY,
    "job": STAFF_ONLY,
    "guidelines": STAFF_ONLY,
    "guidelines_version": STAFF_ONLY,  # raters read those of their rounds: ../guidelines/test_guidelines_hidden.py
    "guidelines_new": LEADS_ONLY,
    "collection_settings": LEADS_ONLY,
}

# Act, statuses for the same people; a POST without fields, so that a form that is reached answers 422 or 302.
ACTS = {
    "members": (422, 403, 403, 404, 302),
    "member_change": (302, 403, 403, 404, 302),
    "collection_settings": (422, 403, 403, 404, 302),
    "guidelines_new": (422, 403, 403, 404, 302),
    "job_cancel": (302, 302, 403, 404, 302),
}


@pytest.fixture
def addresses(collection, lead, rater):
    query = Query.objects.create(collection=collection, query_id="q1", text="rain jacket")
    document = Document.objects.create(collection=collection, doc_id="d1", content_sha256="0" * 64)
    job = Job.objects.create(collection=collection, kind="import", title="Import documents")
    version = guidelines.add_version(collection, actor=lead, markdown="# Grade it")
    slug = collection.slug
    arguments = {
        **dict.fromkeys(("home", "tokens", "collection_new"), ()),
        "query": (slug, query.uuid),
        "document": (slug, document.uuid),
        "job": (job.uuid,),
        "job_cancel": (job.uuid,),
        "guidelines_version": (version.uuid,),
        "member_change": (slug, rater.uuid),
    }
    return lambda name: reverse(name, args=arguments.get(name, (slug,)))


def statuses(request, client_of, act):
    return tuple(act(client_of(request.getfixturevalue(who) if who else None)).status_code for who in WHO)


@pytest.mark.parametrize("name", PAGES)
def test_page_opens_for_the_right_people(name, addresses, request, client_of):
    assert statuses(request, client_of, lambda client: client.get(addresses(name))) == PAGES[name]


@pytest.mark.parametrize("act", ACTS)
def test_act_is_done_by_the_right_people(act, addresses, request, client_of):
    assert statuses(request, client_of, lambda client: client.post(addresses(act), {"x": "1"})) == ACTS[act]


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


def test_way_of_the_data_is_not_shown_to_raters(addresses, rater, engineer, client_of):
    page = addresses("guidelines_version")
    assert b"Evaluation steps" in client_of(engineer).get(page).content
    assert b"Evaluation steps" not in client_of(rater).get(page).content
