"""Tests of the click pages: labels before and after they are stored."""

from __future__ import annotations

import io
from typing import Any

import pytest

from judgments.models import LabelSource, Snapshot, Upload
from tests.pooling.clicks.example import LOG

OPTIONS = {"name": "May", "model": "coec", "least_impressions": "30", "cuts": "", "baseline": "", "strength": ""}


@pytest.fixture
def check(example: Any, client_of: Any, lead: Any) -> Any:
    """The address of the page that asks whether to store the log."""
    client = client_of(lead)
    answer = client.post(f"/c/{example.slug}/clicks/new/", {"file": io.BytesIO(LOG)})
    return client, answer.headers["Location"]


@pytest.fixture
def source(check: Any) -> LabelSource:
    client, address = check
    client.post(address, OPTIONS)
    return LabelSource.objects.get()


def test_no_clicks_says_what_a_log_holds(collection: Any, client_of: Any, lead: Any, engineer: Any) -> None:
    page = client_of(lead).get(f"/c/{collection.slug}/clicks/").content.decode()
    assert "query,doc_id,position,clicked" in page
    assert f"/c/{collection.slug}/clicks/new/" in page
    assert (
        "Only a lead can add a click log" in client_of(engineer).get(f"/c/{collection.slug}/clicks/").content.decode()
    )


def test_the_report_is_read_before_anything_is_stored(check: Any) -> None:
    client, address = check
    page = client.get(address).content.decode()
    for words in (
        "Clicks per impression",
        "20.0%",
        "Queries also in this collection",
        "Clicks over expected clicks",
        "Rain Jacket",
    ):
        assert words in page, words
    wrong = client.post(address, {**OPTIONS, "cuts": "2, 1", "least_impressions": "5"})
    assert wrong.status_code == 422
    assert "The cuts are not in ascending order" in wrong.content.decode()
    assert 'value="5"' in wrong.content.decode()
    assert not LabelSource.objects.exists()
    stored = client.post(address, OPTIONS)
    assert stored.headers["Location"] == f"/c/shop/clicks/{LabelSource.objects.get().uuid}/"
    assert Upload.objects.get(kind="clicks").stored_at is not None


def test_the_page_of_a_source(source: LabelSource, client_of: Any, engineer: Any, lead: Any) -> None:
    at = f"/c/shop/clicks/{source.uuid}/"
    page = client_of(engineer).get(at).content.decode()
    assert page.count('role="img"') == 2
    for words in (
        "Clicks per impression by rank: rank 1: 30.0%; rank 2: 10.0%",
        "Gamma(5, 5)",
        "1 is average",
        "0.714",
    ):
        assert words in page, words
    assert "no pair has both" in page
    assert "Create grades" not in page
    assert "Create grades" in client_of(lead).get(at).content.decode()
    below = client_of(engineer).get(at, {"sure": "below"}).content.decode()
    assert "d2" not in below.partition("label-by-label")[2]
    for table, head in (("ranks", "rank,rate"), ("labels", "label,pairs")):
        answer = client_of(engineer).get(at, {"table": table})
        assert b"".join(answer.streaming_content).decode().startswith(head)
    rows = b"".join(client_of(engineer).get(at, {"format": "csv"}).streaming_content).decode()
    assert rows.startswith("query_id,query,doc_id,title,label,low,high,impressions,clicks,expected\n")
    assert "q1,rain jacket,d1,,0.7142857142857143," in rows
    assert at in client_of(engineer).get("/c/shop/clicks/").content.decode()
    assert at in client_of(engineer).get("/c/shop/qrels/").content.decode()


def test_grades_are_made_by_a_lead_who_asks(source: LabelSource, client_of: Any, lead: Any) -> None:
    at = f"/c/shop/clicks/{source.uuid}/"
    for wrong, expected in (
        ({"name": "G", "cuts": "1, 1"}, "not in ascending order"),
        ({"name": "May", "cuts": "1"}, "called May"),
        ({"name": "G\x1b", "cuts": "1"}, "control character U+001B"),
    ):
        answer = client_of(lead).post(at, wrong)
        assert answer.status_code in (409, 422)
        assert expected in answer.content.decode()
    answer = client_of(lead).post(at, {"name": "G", "cuts": "0.7"})
    made = LabelSource.objects.get(name="G")
    assert answer.headers["Location"] == f"/c/shop/clicks/{made.uuid}/"
    page = client_of(lead).get(answer.headers["Location"]).content.decode()
    assert "adds one grade: 0.7" in page
    assert "Create grades" not in page


def test_a_source_of_another_collection_or_kind_is_not_here(
    source: LabelSource, client_of: Any, lead: Any, store: Any, example: Any, elsewhere: Any
) -> None:
    assert client_of(lead).get(f"/c/{elsewhere.slug}/clicks/{source.uuid}/").status_code == 404
    imported = store(example, "qrels", b"q1 0 d1 3\n", "old.qrels")
    assert client_of(lead).get(f"/c/shop/clicks/{imported['id']}/").status_code == 404


def test_freezing_offers_sources_by_name_and_takes_none_by_itself(
    source: LabelSource, client_of: Any, lead: Any
) -> None:
    client = client_of(lead)
    client.post(f"/c/shop/clicks/{source.uuid}/", {"name": "G", "cuts": "0.7"})
    at = "/c/shop/snapshots/new/"
    page = client.get(at).content.decode()
    assert "G (from clicks)" in page
    choice = {"rule": "median", "sources": "imported", "merge": "newest"}
    assert "Freeze 2 labels" not in client.get(at, choice).content.decode()
    shown = client.get(at, {**choice, "named": "G"}).content.decode()
    assert "Freeze 2 labels" in shown
    assert '<input type="hidden" name="named" value="G">' in shown
    answer = client.post(at, {**choice, "named": "G", "name": "from clicks"})
    assert answer.status_code == 302
    assert Snapshot.objects.get().summary["labels"] == 2
