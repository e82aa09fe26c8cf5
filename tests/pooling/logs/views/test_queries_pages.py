"""Tests of the query pages: groups, narratives and strata, without losing typed text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judgments.models import Collection, Query
from judgments.queries import groups, narratives
from judgments.rounds import rounds
from pooling.logs import query_logs

SPELLED = (
    "query_id,query,frequency,tier\n"
    "q1,rain jacket,50,head\nq2,jacket rain,9,tail\nq3,tent,20,torso\nq4,red tent,5,tail\nq5,tent red,4,tail\n"
)


@pytest.fixture
def spelled(collection: Collection, store: Callable[..., Any]) -> Collection:
    store(collection, "queries", SPELLED.encode(), "queries.csv")
    return collection


def keys(collection: Collection) -> dict[str, str]:
    return {query_id: str(uuid) for query_id, uuid in collection.queries.values_list("query_id", "uuid")}


def test_a_misspelling_is_proposed_with_what_speaks_for_it(
    collection: Collection, store: Callable[..., Any], client_of: Any, lead: Any, at: Any
) -> None:
    store(collection, "queries", b"query_id,query,frequency\nq1,tent,90\nq2,tnet,2\nq3,stove,9\nq4,stovw,8\n", "q.csv")
    client, url = client_of(lead), at("query_groups", collection)
    page = client.get(url).content.decode()
    assert "differs by one letter and has far fewer searches" in page
    assert "stovw" not in page
    clicks = "query,doc_id,position,impressions,clicks\n" + "".join(
        f"{query},{doc_id},1,100,{clicked}\n"
        for query in ("stove", "stovw", "tent", "tnet")
        for doc_id, clicked in (("d1", 5), ("d2", 4), (f"only-{query}", 0))
    )
    store(collection, "clicks", clicks.encode(), "clicks.csv")
    page = client.get(url).content.decode()
    assert "stovw" in page
    assert "differs by one letter and has clicks on the same documents" in page


def test_proposals_are_answered_one_by_one(spelled: Collection, client_of: Any, lead: Any, at: Any) -> None:
    client, url, uuid = client_of(lead), at("query_groups", spelled), keys(spelled)
    page = client.get(url).content.decode()
    assert "2 proposals" in page
    assert page.index("rain jacket") < page.index("red tent")
    client.post(url, {"act": "group-share", "query": [uuid["q1"], uuid["q2"]], "name": "rain jackets"})
    assert "1 proposal<" in client.get(url).content.decode()
    client.post(url, {"act": "refuse", "proposed": [uuid["q4"], uuid["q5"]]})
    page = client.get(url).content.decode()
    assert "Proposed groups" not in page
    group = spelled.query_groups.get()
    assert (group.name, group.shares) == ("rain jackets", True)
    # Two queries are too few to take one out and have a group; a refusal is told.
    answer = client.post(url, {"act": "group", "query": [uuid["q3"]]}, follow=True)
    assert b"A group needs at least two queries" in answer.content
    client.post(at("query_groups", spelled), {"act": "apart"})
    group.refresh_from_db()
    assert not group.shares
    # Others are put together by id or text; a stranger among them stops it.
    refused = client.post(url, {"act": "listed", "lines": "q3\nboat", "name": "wet"})
    assert (refused.status_code, b"Unknown query: boat" in refused.content) == (422, True)
    assert b"q3\nboat</textarea>" in refused.content  # what was typed stays
    assert b'value="wet"' in refused.content
    assert b"Unknown query" in client.post(url, {"act": "listed", "lines": "q3\0"}, follow=True).content
    client.post(url, {"act": "listed", "lines": "q3\r\nred tent\r\n", "name": "tents"})
    assert set(spelled.queries.filter(group="tents").values_list("query_id", flat=True)) == {"q3", "q4"}
    file = client.get(f"{url}?format=csv").getvalue().decode()
    assert ("spellings" in file, "tent · red tent" in file, "<bdi>" in file) == (True, True, False)
    assert "<bdi>tent</bdi> · <bdi>red tent</bdi>" in client.get(url).content.decode()


def test_a_group_is_changed_on_its_page(spelled: Collection, client_of: Any, lead: Any, at: Any) -> None:
    uuid, client = keys(spelled), client_of(lead)
    group = groups.gather(spelled, queries=list(spelled.queries.all()), actor=lead, name="all")
    url = at("query_group", spelled, group)
    assert client.get(url).status_code == 200
    client.post(url, {"act": "split", "query": [uuid["q4"], uuid["q5"]], "name": "tents"})
    client.post(url, {"act": "rename", "name": "jackets"})
    assert set(spelled.queries.values_list("group", flat=True)) == {"jackets", "tents"}
    other = spelled.query_groups.get(name="tents")
    client.post(url, {"act": "merge", "other": str(other.uuid)})
    client.post(url, {"act": "take-out", "query": [uuid["q3"]]})
    assert spelled.queries.filter(group="jackets").count() == 4
    # It is asked first: the button is folded away below what it means.
    response = client.get(url).content.decode().partition("<summary>Dissolve group</summary>")[2]
    assert "queries will no longer be grouped" in response.partition('value="dissolve"')[0]
    assert client.post(url, {"act": "dissolve"}).headers["Location"] == at("query_groups", spelled)
    assert client.get(url).status_code == 404


def test_needs_are_written_on_one_page(spelled: Collection, client_of: Any, lead: Any, at: Any) -> None:
    client, uuid = client_of(lead), keys(spelled)
    url = at("queries_needs", spelled) + "?show=without"
    assert b"0 of 5 written" in client.get(url).content
    client.post(url, {"act": "draft"})
    q1, q2 = (f"need-{uuid[name]}" for name in ("q1", "q2"))
    drafts = dict(Query.objects.values_list("query_id", "draft"))
    form_data = {
        "act": "save",
        q1: "For a wet week.",
        q2: drafts["q2"].replace("[fill in: what", "[fill in: that"),
        q1 + "x": "?",
    }
    page = client.post(url, form_data, follow=True).content.decode()
    assert "1 of 5 written" in page
    assert "Saved 1 draft" in page
    assert Query.objects.get(query_id="q1").narrative == "For a wet week."
    # A draft with gaps is not confirmed, and what was typed stands in the form again.
    answer = client.post(url, {"confirm": uuid["q2"], q2: "Mine, [fill in: x]."})
    assert answer.status_code == 409
    assert "Mine, [fill in: x]." in answer.content.decode()
    assert "still has placeholders" in answer.content.decode()
    assert Query.objects.get(query_id="q3").draft == drafts["q3"]
    # Pages go on: of those without a need, written ones have made room.
    written = client.post(url, {"act": "next", q2: "For rain."}).headers["Location"]
    assert "page" not in written
    assert "page=2" in client.post(url, {"act": "next"}).headers["Location"]


def test_two_leads_at_once_overwrite_nothing(spelled: Collection, client_of: Any, lead: Any, at: Any) -> None:
    """Both have the page open; one writes, and the other saves what they left alone and what they wrote too."""
    client, uuid = client_of(lead), keys(spelled)
    url = at("queries_needs", spelled)
    rows = {query.query_id: query for query in spelled.queries.all()}
    seen = {f"seen-{uuid[name]}": narratives.version(rows[name]) for name in ("q1", "q2")}
    for name in ("q1", "q2"):
        narratives.write(rows[name], text="The other's.", actor=lead)
    # An id may come without its dashes, and what is none is nobody's.
    undashed = {f"need-{str(uuid['q2']).replace('-', '')}": "The other's.", "need-none": "x"}
    assert client.post(url, undashed).status_code == 302
    answer = client.post(url, {**seen, f"need-{uuid['q1']}": "", f"need-{uuid['q2']}": "Mine."})
    assert answer.status_code == 409
    assert "The other&#x27;s." in answer.content.decode()
    assert "Mine.</textarea>" in answer.content.decode()
    assert set(spelled.queries.filter(query_id__in=["q1", "q2"]).values_list("narrative", flat=True)) == {
        "The other's."
    }
    page = at("query", spelled, rows["q1"])
    stale = {"narrative": "Mine.", "seen": seen[f"seen-{uuid['q1']}"], "act": "write"}
    assert client.post(page, stale).status_code == 409


def test_a_query_page_writes_its_need_and_leads_on(open_round: Any, client_of: Any, lead: Any, at: Any) -> None:
    collection = open_round.collection
    held, free = collection.queries.order_by("query_id")
    client = client_of(lead)
    page = client.get(at("query", collection, held)).content.decode()
    assert "Round 1 is open" in page
    assert "Next query without a need" in page
    answer = client.post(at("query", collection, held), {"narrative": "For a wet week.", "act": "write"})
    assert (answer.status_code, "For a wet week." in answer.content.decode()) == (409, True)
    client.post(at("query", collection, held), {"narrative": "For a wet week.", "act": "draft"})
    rounds.close_round(open_round, actor=lead)
    client.post(at("query", collection, held), {"narrative": "For a wet week.", "act": "write"})
    client.post(at("query", collection, free), {"narrative": "Two people.", "act": "write"})
    assert narratives.progress(collection).without == 0


def test_a_stratum_is_added_on_its_page(
    log: Any, store: Callable[..., Any], client_of: Any, lead: Any, at: Any
) -> None:
    collection, client = log.collection, client_of(lead)
    url = at("strata", collection)
    assert b"No queries were drawn from a log yet" in client.get(url).content
    query_logs.draw(log, actor=lead, sizes={"head": 1, "torso": 2, "tail": 3}, seed=7)
    form_data = {
        "name": "small",
        "log": str(log.uuid),
        "words": "lamp, sock,",
        "queries": "mug\r\nrope\r\n",
        "whole": "by-log",
        "first": "shop",
        "method": "stratified",
        "head": "2",
        "torso": "2",
        "tail": "2",
        "n": "5",
        "seed": "3",
    }
    wrong = client.post(url, {**form_data, "log": "", "queries": ""})
    assert wrong.status_code == 422
    assert b"List the queries, or choose a log" in wrong.content
    page = client.post(url, form_data, follow=True).content.decode()
    # lamp, sock, mug and rope are 17 of the log's 100 searches.
    assert "represents 17" in page
    assert {one.name: one.share for one in collection.strata.all()} == pytest.approx({"shop": 0.83, "small": 0.17})
    assert (
        b"Add the draw as a new stratum"
        in client.post(
            at("query_log", collection, log),
            {**form_data, "head_share": "0.5", "torso_share": "0.8", "window_days": "90"},
        ).content
    )
    assert b"<td>head" in client.get(at("queries", collection)).content
