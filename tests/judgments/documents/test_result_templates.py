"""Tests of result templates: their language, their errors, and where raters see them."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from assay.core.errors import NotValid
from judgments.documents.result_templates import parse
from judgments.models import Document

TEMPLATE = "image: {image}\ntitle: {title}\nprice: {price} €\nbadges: {brand}, {color}\nsnippet: {text|12}\nnote: {sku}"
FIELDS = {"price": 79, "brand": "Fell", "color": ["red", "blue"], "stock": None}


def document(**changes: Any) -> Document:
    about = {"doc_id": "d1", "title": "Rain jacket", "text": "Waterproof and light.", "fields": FIELDS, **changes}
    return Document(**about)


def test_fields_fill_the_parts() -> None:
    result = parse(TEMPLATE).result(document())
    assert (result.title, result.price, result.badges) == ("Rain jacket", "79 €", ("Fell", "red, blue"))
    assert (result.snippet, result.note, result.image) == ("Waterproof…", "", True)


def test_a_part_whose_fields_are_empty_is_left_out() -> None:
    result = parse(TEMPLATE).result(document(fields={}, text=""))
    assert (result.price, result.badges, result.snippet) == ("", (), "")


def test_without_a_title_the_id_stands() -> None:
    assert parse("price: {price}").result(document(title="")).title == "d1"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("title: <b>{title}</b>", 1),
        ("title: {title}\nnote: <script>alert(1)</script> {sku}", 2),
        ("image: https://evil.example/{sku}.png", 1),
        ("title: {title", 1),
        ("title: {{title}}", 1),
        ("title: {title|many}", 1),
        ("title: no field", 1),
        ("heading: {title}", 1),
        ("title {title}", 1),
        ("title: {title}\n\ntitle: {text}", 3),
    ],
)
def test_what_is_no_template_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(NotValid) as caught:
        parse(text)
    assert f"Line {line}:" in caught.value.fields["result_template"]


def test_a_value_is_text_and_not_a_template() -> None:
    result = parse("title: {title}").result(document(title="{price} <b>"))
    assert result.title == "{price} <b>"


@pytest.fixture
def stored(collection: Any, store_file: Any) -> Any:
    rows = '{"doc_id": "d1", "title": "<i>Rain</i> jacket", "text": "Light.", "fields": {"price": "79"}}\n'
    store_file("documents", rows, "documents.jsonl")
    return collection


@pytest.mark.django_db
def test_a_lead_sets_the_template_and_sees_examples(stored: Any, client_of: Any, lead: Any) -> None:
    page = reverse("collection_settings", args=["shop"])
    values = {"name": "Shop search", "description": ""}
    refused = client_of(lead).post(page, {**values, "result_template": "price: {prize}"})
    assert "price" in refused.context["form"].errors["result_template"][0]
    client_of(lead).post(page, {**values, "result_template": "title: {title}\nprice: {price} €"})
    shown = client_of(lead).get(page).content.decode()
    assert "79 €" in shown
    assert "<i>Rain" not in shown


@pytest.mark.django_db
def test_the_api_sets_the_template(stored: Any, api_of: Any, lead: Any) -> None:
    api = api_of(lead)
    address = "/api/v1/collections/shop/"
    assert api.patch(address, {"result_template": "price: {nothing}"}, format="json").status_code == 400
    body = api.patch(address, {"result_template": "price: {price}"}, format="json").json()
    assert body["result_template"] == "price: {price}"


@pytest.mark.django_db
def test_raters_see_the_result(stored: Any, make_round: Any, client_of: Any, lead: Any, rater: Any) -> None:
    round_ = make_round(queries=1, documents=1, raters=[rater])
    collection = round_.collection
    doc = round_.pairs.get().document
    doc.title, doc.fields, doc.stub = "Rain jacket", {"price": "79"}, False
    doc.save()
    collection.result_template = "title: {title}\nprice: only {price} €"
    collection.save()
    page = client_of(rater).get(reverse("rate", args=[round_.uuid])).content.decode()
    assert "only 79 €" in page
