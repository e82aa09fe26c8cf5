"""Tests of the quick start: an a run from typed queries, without log and runs."""

from __future__ import annotations

from typing import Any

import pytest

from assay.core.errors import NotValid
from judgments.models import Document
from pooling.rounds import quick_start
from pooling.rounds.quick_start import Result, Start
from pooling.runs import runs


def _begin(collection: Any, lead: Any) -> Any:
    jacket = [Result("Fell 3L", "https://shop.example/1", "Taped."), Result("Tarn", "", "")]
    starts = [Start("rain jacket", jacket), Start("tent", [Result("Fell 3L", "https://shop.example/1", "Taped.")])]
    return quick_start.store_lists(collection, starts, actor=lead)


def test_a_link_names_a_document_once(collection: Any, lead: Any) -> None:
    _begin(collection, lead)
    assert Document.objects.filter(doc_id="https://shop.example/1").count() == 1
    assert Document.objects.count() == 2


def test_a_link_that_is_no_id_is_not_made_one(collection: Any, lead: Any) -> None:
    starts = [Start("tent", [Result("A", "https://shop.example/a b", ""), Result("B", "https://x/" + "y" * 600, "")])]
    quick_start.store_lists(collection, starts, actor=lead)
    assert all(doc_id.startswith("d-") for doc_id in Document.objects.values_list("doc_id", flat=True))


def test_a_second_start_adds_no_query(collection: Any, lead: Any) -> None:
    assert _begin(collection, lead) == _begin(collection, lead)
    assert collection.queries.count() == 2


def test_nothing_to_rate_stores_nothing(collection: Any, lead: Any) -> None:
    with pytest.raises(NotValid, match="nothing to rate"):
        quick_start.store_lists(collection, [Start("tent", [])], actor=lead)
    assert not collection.queries.exists()


def test_a_file_is_read_with_its_texts_as_they_are() -> None:
    text = 'query,title,url,text\r\ntent,Fell 2,https://shop.example/1,"For two,\nor one | big"\r\nstove,Primus,,\r\n'
    assert quick_start.read_csv(text) == [
        Start("tent", (Result("Fell 2", "https://shop.example/1", "For two,\nor one | big"),)),
        Start("stove", (Result("Primus", "", ""),)),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title,url\nFell,x\n", "header must be"),
        ("query,title\n,Fell\n", "Line 2 has no query"),
        ("query,title\ntent,\n", "neither a title nor a URL"),
        ("query,title\ntent,a,b\n", "more fields"),
        ("query,title\n", "a header but no results"),
        ('query,title\ntent,"a\n', "not valid CSV"),
        ("query,title\ntent,a\0b\n", "NUL"),
        ("", "header must be"),
    ],
)
def test_an_odd_file_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(NotValid, match=message):
        quick_start.read_csv(text)


def test_a_query_with_a_nul_is_refused() -> None:
    with pytest.raises(NotValid, match="NUL"):
        quick_start.read_queries("tent\nra\0in")


def test_the_pasted_lists_are_stored_as_a_run_in_their_order(collection: Any, lead: Any) -> None:
    _begin(collection, lead)
    run = collection.runs.get()
    ranked = runs.ranked(run)
    by_text = {query.text: query.query_id for query in collection.queries.all()}
    titles = dict(Document.objects.values_list("doc_id", "title"))
    jackets = [titles[doc_id] for doc_id in ranked.ranking(by_text["rain jacket"])]
    assert (jackets, run.rows, run.baseline) == (["Fell 3L", "Tarn"], 3, True)
    # The same lists once more are the same run.
    _begin(collection, lead)
    assert collection.runs.count() == 1
    quick_start.store_lists(collection, [Start("stove", [Result("Primus", "", "")])], actor=lead)
    names = list(collection.runs.order_by("pk").values_list("name", "baseline"))
    assert names == [(quick_start.RUN, True), (f"{quick_start.RUN} 2", False)]


def test_one_link_twice_under_a_query_is_one_row(collection: Any, lead: Any) -> None:
    twice = [Result("Fell", "https://shop.example/1", ""), Result("Fell again", "https://shop.example/1", "")]
    quick_start.store_lists(collection, [Start("tent", twice)], actor=lead)
    assert collection.runs.get().rows == 1
