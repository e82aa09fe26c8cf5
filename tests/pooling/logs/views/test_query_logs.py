"""Tests of the query log pages: preview of a sample, and exactly this sample when it is drawn."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from judgments.models import Job, Query, QuerySample
from tests.pooling.conftest import LOG

PLAN = {
    "method": "stratified",
    "head": "1",
    "torso": "1",
    "tail": "3",
    "n": "5",
    "seed": "7",
    "window_days": "90",
    "head_share": "0.5",
    "torso_share": "0.8",
}


def test_no_log_says_how_to_begin(collection: Any, client_of: Any, lead: Any, at: Any) -> None:
    page = client_of(lead).get(at("query_logs", collection))
    assert b"Start with a query log" in page.content


def test_storing_a_log_leads_to_drawing_from_it(collection: Any, client_of: Any, lead: Any, at: Any) -> None:
    client = client_of(lead)
    check = client.post(at("query_logs_new", collection), {"file": io.BytesIO(LOG)}).headers["Location"]
    drawing = client.post(check, {"name": "site"}).headers["Location"]
    assert drawing == at("query_log", collection, collection.query_logs.get())
    assert b"Draw 9 queries" in client.get(drawing).content


def test_the_list_names_the_log(log: Any, client_of: Any, engineer: Any, at: Any) -> None:
    page = client_of(engineer).get(at("query_logs", log.collection))
    assert at("query_log", log.collection, log).encode() in page.content


def test_the_page_previews_the_usual_draw(log: Any, client_of: Any, lead: Any, at: Any) -> None:
    page = client_of(lead).get(at("query_log", log.collection, log)).content.decode()
    assert "Draw 9 queries" in page
    assert "50% of the 100 searches" in page
    assert 'role="img"' in page


def test_a_plan_has_an_address(log: Any, client_of: Any, lead: Any, at: Any) -> None:
    page = client_of(lead).get(at("query_log", log.collection, log), PLAN).content.decode()
    assert "Draw 5 queries" in page
    assert '<input type="hidden" name="tail" value="3">' in page


def test_drawing_stores_what_was_shown(log: Any, client_of: Any, lead: Any, at: Any) -> None:
    answer = client_of(lead).post(at("query_log", log.collection, log), PLAN)
    assert answer.headers["Location"] == at("queries", log.collection)
    assert Query.objects.count() == 5
    assert QuerySample.objects.get().seed == 7


def test_earlier_draws_are_listed(log: Any, client_of: Any, lead: Any, at: Any) -> None:
    client = client_of(lead)
    client.post(at("query_log", log.collection, log), PLAN)
    page = client.get(at("query_log", log.collection, log)).content.decode()
    assert "1 head, 1 torso, 3 tail" in page


def test_an_engineer_reads_and_does_not_draw(log: Any, client_of: Any, engineer: Any, at: Any) -> None:
    client = client_of(engineer)
    assert "Only a lead can draw" in client.get(at("query_log", log.collection, log)).content.decode()


@pytest.mark.parametrize(
    "wrong", [{"head": "-1"}, {"seed": "x"}, {"head_share": "0.9"}, {"head": "0", "torso": "0", "tail": "0"}]
)
def test_a_wrong_form_is_answered_with_422_and_stays_filled(
    log: Any, client_of: Any, lead: Any, at: Any, wrong: dict[str, str]
) -> None:
    answer = client_of(lead).post(at("query_log", log.collection, log), {**PLAN, **wrong})
    assert answer.status_code == 422
    assert f'value="{next(iter(wrong.values()))}"' in answer.content.decode()
    assert not Query.objects.exists()


@pytest.mark.parametrize(
    ("table", "head"), [("tiers", "tier,drawn,"), ("curve", "rank,share"), ("draws", "created_at")]
)
def test_each_table_downloads(log: Any, client_of: Any, engineer: Any, at: Any, table: str, head: str) -> None:
    answer = client_of(engineer).get(at("query_log", log.collection, log), {"table": table})
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert b"".join(answer.streaming_content).decode().startswith(head)


def test_a_log_of_another_collection_is_not_here(log: Any, elsewhere: Any, client_of: Any, lead: Any, at: Any) -> None:
    assert client_of(lead).get(at("query_log", elsewhere, log)).status_code == 404


def test_a_large_log_is_drawn_by_a_job(log: Any, client_of: Any, lead: Any, at: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("pooling.logs.traffic.LARGE", 5)
    client = client_of(lead)
    answer = client.post(at("query_log", log.collection, log), PLAN)
    assert answer.headers["Location"].startswith("/jobs/")
    unseen = client.get(at("query_log", log.collection, log), {**PLAN, "head_share": "0.3"}).content.decode()
    assert "Draw up to 5 queries" in unseen


def test_a_double_click_draws_once(log: Any, client_of: Any, lead: Any, at: Any, monkeypatch: Any) -> None:
    client, url = client_of(lead), at("query_log", log.collection, log)
    (token,) = re.findall(r'name="token" value="([^"]+)"', client.get(url, PLAN).content.decode())
    for _ in range(2):
        page = client.post(url, {**PLAN, "token": token}, follow=True).content.decode()
    assert "5 queries drawn with seed 7." in page
    assert QuerySample.objects.count() == 1
    monkeypatch.setattr("pooling.logs.traffic.LARGE", 5)
    (token,) = re.findall(r'name="token" value="([^"]+)"', client.get(url, PLAN).content.decode())
    first, second = (client.post(url, {**PLAN, "token": token}).headers["Location"] for _ in range(2))
    assert first == second
    assert Job.objects.filter(kind="draw").count() == 1


def test_the_plan_follows_ranks_in_table_and_picture(log: Any, client_of: Any, lead: Any, at: Any) -> None:
    options = {**PLAN, "head_ranks": "2", "torso_ranks": "5"}
    page = client_of(lead).get(at("query_log", log.collection, log), options).content.decode()
    # Two queries hold 70 of 100 searches, five hold 90: what stands beside the cuts are these shares.
    assert "70% of the 100 searches" in page
    assert ">70%</text>" in page
    assert ">90%</text>" in page
    assert "head 2, torso 3, tail 4" in page
    alone = client_of(lead).get(at("query_log", log.collection, log), {**PLAN, "head_ranks": "2"})
    assert b"Enter both ranks, or neither." in alone.content


def test_the_plan_says_what_the_draw_would_show(log: Any, client_of: Any, lead: Any, at: Any) -> None:
    client = client_of(lead)
    options = {**PLAN, "torso": "2", "tail": "6", "detect": "0.05"}
    page = " ".join(client.get(at("query_log", log.collection, log), options).content.decode().split())
    # All nine queries: 100^2 / 3080 = 3.2, and t(.975; 2) = 4.303 (tables of Student's t), times .17 / sqrt(3).
    assert "effective size of this draw is about 3 equally weighted queries" in page
    assert "± 0.422" in page
    assert "93 such queries" in page
    client.post(at("query_log", log.collection, log), options)
    assert b"0.275 \xc2\xb1 0.422" in client.get(at("query_log", log.collection, log)).content


def test_languages_are_offered_where_the_log_names_them(
    collection: Any, store: Any, log: Any, client_of: Any, lead: Any, at: Any
) -> None:
    content = b"query,language\nZelt,de\nzelt,de-AT\ntent,en\n"
    spoken = collection.query_logs.get(uuid=store(collection, "query-logs", content, "raw.csv")["id"])
    client = client_of(lead)
    assert b"<code>de-AT</code> (1)" in client.get(at("query_log", collection, spoken)).content
    page = client.get(at("query_log", collection, spoken), {**PLAN, "language": "de"}).content.decode()
    assert "of the 2 searches in de" in page
    wrong = client.get(at("query_log", collection, spoken), {**PLAN, "language": "fr"}).content.decode()
    assert "No search is in" in wrong
    assert b"Only searches in" not in client.get(at("query_log", collection, log)).content
