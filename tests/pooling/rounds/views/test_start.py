"""Tests of the start page: ten typed queries lead to the first pair without JavaScript."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from judgments.models import Query, Round

CSV = b"query,title,url,text\nrain jacket,Fell 3L,https://shop.example/1,Taped.\nrain jacket,Tarn,,\n"


@pytest.fixture
def page(collection: Any, at: Any) -> str:
    return at("start", collection)


def test_queries_become_boxes(page: str, client_of: Any, lead: Any) -> None:
    shown = client_of(lead).post(page, {"queries": "rain jacket\n<b>tent</b>\n"}).content.decode()
    assert 'name="results-1"' in shown
    assert "&lt;b&gt;tent&lt;/b&gt;" in shown
    assert not Query.objects.exists()


def test_boxes_become_an_open_round(page: str, client_of: Any, lead: Any) -> None:
    form_data = {"texts": "rain jacket\ntent", "results-0": "Fell 3L | https://shop.example/1\nTarn", "results-1": ""}
    browser = client_of(lead)
    plan = browser.post(page, form_data).headers["Location"]
    form = browser.get(plan).context["form"]
    values = {name: value for name, value in form.initial.items() if value not in (None, False)}
    answer = browser.post(plan, {**values, "act": "start"})
    made = Round.objects.get()
    assert answer.headers["Location"] == f"/rounds/{made.uuid}/rate/"
    assert (made.state, made.pairs.count(), made.ratings_per_pair) == (Round.State.OPEN, 2, 1)
    assert [expected.user for expected in made.raters.all()] == [lead]
    assert list(Query.objects.values_list("text", flat=True)) == ["rain jacket"]


def test_results_are_counted_on_request(page: str, client_of: Any, lead: Any) -> None:
    form_data = {"texts": "tent", "results-0": "A\nB\nC", "act": "count"}
    assert "3 pairs" in client_of(lead).post(page, form_data).content.decode()
    assert not Round.objects.exists()


def test_empty_boxes_are_answered_with_422(page: str, client_of: Any, lead: Any) -> None:
    answer = client_of(lead).post(page, {"texts": "tent", "results-0": " "})
    assert answer.status_code == 422
    assert "nothing to rate yet" in answer.content.decode()


@pytest.mark.parametrize("fields", [{"queries": ""}, {"queries": "\n".join(f"q{n}" for n in range(101))}])
def test_too_few_and_too_many_queries(page: str, client_of: Any, lead: Any, fields: dict[str, str]) -> None:
    assert client_of(lead).post(page, fields).status_code == 422


def test_a_file_is_shown_before_it_is_stored(page: str, client_of: Any, collection: Any, lead: Any) -> None:
    client = client_of(lead)
    shown = client.post(page, {"file": SimpleUploadedFile("start.csv", CSV)}).content.decode()
    assert "2 pairs" in shown
    assert not Query.objects.exists()
    client.post(page, {"csv": CSV.decode()})
    assert collection.runs.get().rows == 2


@pytest.mark.parametrize("content", [b"title\nFell\n", "query,title\ntent,é\n".encode("latin-1"), b"query,title\n,x\n"])
def test_an_odd_file_is_refused_at_its_field(page: str, client_of: Any, lead: Any, content: bytes) -> None:
    answer = client_of(lead).post(page, {"file": SimpleUploadedFile("start.csv", content)})
    assert answer.status_code == 422
    assert 'id="id_file_error"' in answer.content.decode()
