"""Tests of the demo's catalog."""

from __future__ import annotations

import json
import subprocess
import sys

from demo.asks import asks
from demo.catalogue import BRANDS, documents
from demo.shelf import COLORS, SHELVES


def test_about_three_hundred_products_in_the_shape_of_documents_jsonl() -> None:
    products = documents()
    assert 280 <= len(products) <= 320
    assert (
        len({document["doc_id"] for document in products})
        == len({document["title"] for document in products})
        == len(products)
    )
    for document in products:
        assert set(document) == {"doc_id", "title", "text", "url", "image", "fields"}
        assert {"category", "brand", "price", "weight"} <= set(document["fields"])
        assert all(isinstance(value, str) for value in document["fields"].values())


def test_every_template_is_filled() -> None:
    for document in documents():
        text = f"{document['title']} {document['text']}"
        assert not set("{}") & set(text)
        assert "  " not in text


def test_descriptions_are_short_and_a_few_are_missing() -> None:
    texts = [document["text"] for document in documents()]
    assert 3 <= texts.count("") <= 12
    assert all(len(text) < 600 and text.endswith(".") for text in texts if text)


def test_the_catalogue_is_the_same_in_another_process() -> None:
    code = "import json; from demo.catalogue import documents; print(json.dumps(documents()))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    assert json.loads(out) == documents()


def test_rows_have_a_value_for_each_trait() -> None:
    for shelf in SHELVES.values():
        assert {len(row) for row in shelf.rows} == {len(shelf.traits) + 2}, shelf.key
        assert set(shelf.near) <= set(SHELVES)
        assert set(shelf.colors) <= set(COLORS)


def test_every_phrase_of_a_shelf_applies_to_a_product() -> None:
    for shelf in SHELVES.values():
        values = {str(value) for row in shelf.rows for value in row[:-2]}
        assert set(shelf.says) | set(shelf.starts) <= values, shelf.key


def test_every_ask_has_an_answer_in_the_shop() -> None:
    shelf_of = {shelf.category: key for key, shelf in SHELVES.items()}
    fields = [document["fields"] for document in documents()]
    for ask in asks():
        on_shelf = [each for each in fields if ask.shelf in ("", shelf_of[each["category"]])]
        answers = [each for each in on_shelf if all(each.get(name) in some for name, some in ask.wants.items())]
        assert answers, ask.texts[0]
        for name, some in ask.wants.items():
            assert set(some) <= {each.get(name) for each in on_shelf}, ask.texts[0]


def test_every_brand_sells_something() -> None:
    assert {document["fields"]["brand"] for document in documents()} == set(BRANDS)
