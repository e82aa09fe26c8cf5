"""Tests of narratives: only confirmed text reaches raters, and it is fixed while raters judge under it."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from assay.core.errors import Conflict, NotValid, UnreadableInput
from judgments.imports import ingestion
from judgments.models import AuditRow, Query
from judgments.queries import narratives
from judgments.rounds import rounds

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft_round(make_round: Callable[..., Any], rater: Any) -> Any:
    return make_round(queries=2, documents=1, raters=[rater], opened=False, ratings_per_pair=1)


def titles(queries: Any) -> dict[str, list[str]]:
    return {"q1": ["Storm shell", "Storm shell", "Rain poncho"]}


def test_a_draft_is_nobodys_narrative_until_a_person_finishes_it(draft_round: Any, lead: Any, rater: Any) -> None:
    collection = draft_round.collection
    collection.queries.update(group="g")
    assert narratives.draft_missing(collection, actor=lead, titles=titles) == 2
    assert narratives.draft_missing(collection, actor=lead, titles=titles) == 0
    query = Query.objects.get(query_id="q1")
    assert query.drafted_by == "template"
    assert "“query 1”, or “query 2”," in query.draft
    assert "“Storm shell”, “Rain poncho”" in query.draft
    assert narratives.progress(collection) == narratives.Progress(written=0, drafts=2, queries=2)
    with pytest.raises(NotValid, match="placeholders"):
        narratives.confirm(query, actor=lead)
    rounds.open_round(draft_round, actor=lead)
    client = APIClient()
    client.force_authenticate(rater)
    answer = client.post(f"/api/v1/rounds/{draft_round.uuid}/batch/?size=9")
    assert {pair["query"]["narrative"] for pair in answer.json()["pairs"]} == {""}
    assert "Storm" not in answer.content.decode()


def test_a_narrative_is_frozen_while_its_round_is_open(draft_round: Any, lead: Any) -> None:
    query = draft_round.collection.queries.get(query_id="q1")
    narratives.write(query, text="  For a wet week.\r\nNo umbrellas. ", actor=lead)
    query.refresh_from_db()
    assert query.narrative == "For a wet week.\nNo umbrellas."
    opened = rounds.open_round(draft_round, actor=lead)
    with pytest.raises(Conflict, match="open round Round 1"):
        narratives.write(query, text="For a dry week.", actor=lead)
    # What changes nothing, and a draft, may be saved at any time.
    narratives.write(query, text=query.narrative, actor=lead)
    narratives.save_draft(query, text="For a dry week.", actor=lead)
    rounds.close_round(opened, actor=lead)
    query.refresh_from_db()
    narratives.confirm(query, actor=lead)
    query.refresh_from_db()
    assert (query.narrative, query.draft, query.drafted_by) == ("For a dry week.", "", "")
    row = AuditRow.objects.filter(verb="narratives.write").latest("pk")
    assert (row.detail["before"], row.detail["after"]) == ("For a wet week.\nNo umbrellas.", "For a dry week.")


@pytest.mark.parametrize("bad", ["x" * 5_001, "a\0b", "Wants [fill in: what]."])
def test_a_narrative_that_raters_cannot_use_is_refused(draft_round: Any, lead: Any, bad: str) -> None:
    with pytest.raises(NotValid):
        narratives.write(draft_round.collection.queries.get(query_id="q1"), text=bad, actor=lead)


def test_a_file_cannot_change_what_is_judged_under(draft_round: Any, lead: Any) -> None:
    rounds.open_round(draft_round, actor=lead)
    content = b"query_id,query,narrative\nq1,query 1,Another need.\nq2,query 2,\nq3,query 3,A need.\n"

    def receive() -> Any:
        file = io.BytesIO(content)
        return ingestion.receive(draft_round.collection, kind="queries", file=file, filename="queries.csv", actor=lead)

    upload = receive()
    (problem,) = upload.report["problems"]
    assert (problem["code"], problem["line"]) == ("E25", 2)
    assert "raters of the open round Round 1" in problem["what"]
    ingestion.store(upload, actor=lead, accept_errors=True)
    assert dict(Query.objects.values_list("query_id", "narrative")) == {"q1": "", "q2": "", "q3": "A need."}


def test_a_file_with_a_narrative_that_is_too_long_says_so_at_its_line(collection: Any, lead: Any) -> None:
    """It was stored whole, and could then not be saved again on its own page."""
    rows = f"q1,tent,{'x' * 5_001}\nq2,boots,{'y' * 5_000}\n"
    file = io.BytesIO(f"query_id,query,narrative\n{rows}".encode())
    upload = ingestion.receive(collection, kind="queries", file=file, filename="q.csv", actor=lead)
    (problem,) = upload.report["problems"]
    assert (problem["line"], problem["code"], problem["severity"]) == (2, "E21", "error")
    assert problem["what"] == "the narrative of q1 has 5,001 characters, more than 5,000"
    with pytest.raises(UnreadableInput, match="5,001 characters"):
        ingestion.store(upload, actor=lead)
    ingestion.store(upload, actor=lead, accept_errors=True)
    assert list(collection.queries.values_list("query_id", flat=True)) == ["q2"]
    # One that stood there before there was a limit keeps no other file out.
    collection.queries.update(narrative="z" * 6_000)
    again = f"query_id,query,narrative\nq2,boots,{'z' * 6_000}\n".encode()
    upload = ingestion.receive(collection, kind="queries", file=io.BytesIO(again), filename="q.csv", actor=lead)
    assert upload.report["error_count"] == 0
