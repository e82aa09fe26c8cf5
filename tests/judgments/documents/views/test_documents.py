"""Tests of the document pages: fields, filters, missing text, no active content."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.models import Document

pytestmark = pytest.mark.django_db


@pytest.fixture
def page_with(client_of, collection, lead):
    def page(**content):
        document = Document.objects.create(collection=collection, doc_id="d1", content_sha256="0" * 64, **content)
        return client_of(lead).get(reverse("document", args=["shop", document.uuid])).content.decode()

    return page


def test_empty_list_says_what_to_do(client_of, collection, lead):
    assert "Add your documents" in client_of(lead).get(reverse("documents", args=["shop"])).content.decode()


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "<p onclick=x()>a</p><script>y()</script>", "<img src=x onerror=alert(1)>"]
)
def test_text_never_runs(page_with, text):
    main = page_with(text=text).split("<article")[1]
    assert "<script" not in main
    assert "onclick" not in main
    assert "<img" not in main


@pytest.mark.parametrize("field", ["url", "image"])
def test_address_of_script_becomes_no_link(page_with, field):
    html = page_with(title="Jacket", text="x", **{field: "javascript:alert(1)"})
    assert 'href="javascript' not in html
    assert 'src="javascript' not in html


def test_fields_are_shown(page_with):
    html = page_with(title="Jacket", text="x", fields={"Price": "€ 149"})
    assert "<dt>Price</dt><dd>€ 149</dd>" in html


def test_document_of_which_only_the_id_is_known(page_with):
    assert "This document has only an id" in page_with(stub=True)


def test_list_counts_and_filters_them(client_of, collection, lead):
    Document.objects.create(collection=collection, doc_id="d1", content_sha256="0" * 64, stub=True)
    Document.objects.create(collection=collection, doc_id="d2", content_sha256="0" * 64)
    response = client_of(lead).get(reverse("documents", args=["shop"]) + "?content=id")
    assert "1 document has only an id" in response.content.decode()
    assert [row.doc_id for row in response.context["listing"].rows] == ["d1"]


def test_a_document_without_text_is_not_called_complete(client_of, collection, lead):
    for doc_id, how in {"a": {"text": "for rain"}, "b": {"title": "Tent"}, "c": {"stub": True}}.items():
        Document.objects.create(collection=collection, doc_id=doc_id, content_sha256="0" * 64, **how)
    address = reverse("documents", args=["shop"])
    result = {
        content: [row.doc_id for row in client_of(lead).get(f"{address}?content={content}").context["listing"].rows]
        for content in ("complete", "no-text", "id")
    }
    assert result == {"complete": ["a"], "no-text": ["b"], "id": ["c"]}
