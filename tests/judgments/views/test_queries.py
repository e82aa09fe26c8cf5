"""Do the pages of queries show what is known, and no grade?"""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.models import Query, QuerySample

pytestmark = pytest.mark.django_db


def page_of(client, query):
    return client.get(reverse("query", args=[query.collection.slug, query.uuid])).content.decode()


def test_empty_list_says_what_to_do(client_of, collection, lead):
    html = client_of(lead).get(reverse("queries", args=["shop"])).content.decode()
    assert "Start with what people type" in html


def test_list_names_the_draw(client_of, collection, lead):
    sample = QuerySample.objects.create(
        collection=collection, log_name="autumn.csv", log_sha256="a" * 64, method="stratified", seed=17
    )
    Query.objects.create(collection=collection, query_id="q1", text="rain jacket", sample=sample)
    html = client_of(lead).get(reverse("queries", args=["shop"])).content.decode()
    assert "Drawn from autumn.csv, stratified, seed 17" in html


def test_query_shows_its_raw_row_and_escapes(client_of, collection, lead):
    raw = {"query": "<script>alert(1)</script>"}
    query = Query.objects.create(collection=collection, query_id="q1", text="<b>rain</b>", raw_row=raw)
    html = page_of(client_of(lead), query)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<b>rain</b>" not in html


def test_query_of_another_collection_is_not_there(client_of, collection, lead, outsider):
    from judgments.collections import create_collection

    other = create_collection(actor=outsider, slug="other", name="Other")
    query = Query.objects.create(collection=other, query_id="q1", text="rain jacket")
    assert client_of(lead).get(reverse("query", args=["shop", query.uuid])).status_code == 404
