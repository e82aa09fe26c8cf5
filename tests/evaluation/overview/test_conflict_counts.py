"""Tests of conflict counts: the same number on every page, and links to exactly these pairs."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from django.urls import reverse

from evaluation.overview.collection_state import Standing
from evaluation.overview.next_step import Look, dues
from judgments.agreement import conflicts, resolutions
from judgments.models import pair as pair_models
from judgments.rounds import rounds
from judgments.snapshots import freeze_preview
from judgments.snapshots.final_labels import Consolidation

pytestmark = pytest.mark.django_db


@pytest.fixture
def third_waits(stage, collection):
    """Two raters of three are done: two steps apart on d0, one on d1, and of one mind on d2."""
    stage.queries(3)
    stage.documents()
    stage.run("bm25", "012", 3)
    round_ = stage.round(runs=1, raters=3, ratings_per_pair=3)
    stage.graded(round_, lambda pair, place: {"d0": 2 * place, "d1": place}.get(pair.document.doc_id, 3))
    return round_


def open_conflicts(client, round_, lead):
    """The number of open conflicts as each place that speaks of them has it."""
    look = Look(Standing(round_.collection), lead, "lead")
    due = next((one for one in dues(look) if "conflicts" in one.act.url), None)
    preview = freeze_preview.look(round_.collection, [round_], Consolidation())
    page = client.get(reverse("conflicts", args=[round_.uuid]) + "?settled=open").context
    return {
        "due": 0 if due is None else client.get(due.act.url).context["listing"].count,
        "standing": look.conflicts.number,
        "tab": page["open_conflicts"],
        "list": page["listing"].count,
        "freeze": preview.settled.unresolved,
        "api": len(client.get(f"/api/v1/rounds/{round_.uuid}/conflicts/").json()["results"]),
    }


@pytest.mark.parametrize("few", [0, pair_models.FEW_SLOTS])
def test_pair_that_waits_for_a_rating_is_no_conflict_yet(client_of, third_waits, lead, stage, monkeypatch, few):
    monkeypatch.setattr(pair_models, "FEW_SLOTS", few)
    client = client_of(lead)
    assert set(open_conflicts(client, third_waits, lead).values()) == {0}
    # The third rater says of every pair what the first one said.
    third = stage.raters[2]
    stage.raters[:] = [third]
    stage.graded(third_waits, lambda pair, place: 3 if pair.document.doc_id == "d2" else 0, raters=1)
    assert set(open_conflicts(client, third_waits, lead).values()) == {6}


def test_closing_a_round_leaves_no_pair_waiting(client_of, third_waits, lead):
    closed = rounds.close_round(third_waits, actor=lead)
    assert set(open_conflicts(client_of(lead), closed, lead).values()) == {6}
    assert Standing(closed.collection).conflicts() == (6, 3)


def test_resolved_conflicts_are_in_no_count(client_of, third_waits, lead):
    closed = rounds.close_round(third_waits, actor=lead)
    resolutions.resolve(closed.pairs.get(position=0), grade=1, reason="Half of it.", actor=lead)
    result = open_conflicts(client_of(lead), closed, lead)
    # The API lists the settled ones too, each with its settlement.
    assert result.pop("api") == 6
    assert set(result.values()) == {5}
    assert conflicts.in_conflict(closed, viewer=lead).count() == 6


def test_links_open_the_conflicts_that_they_count(client_of, third_waits, lead):
    closed = rounds.close_round(third_waits, actor=lead)
    resolutions.resolve(closed.pairs.get(position=0), grade=1, reason="Half of it.", actor=lead)
    client = client_of(lead)
    due = next(one for one in dues(Look(Standing(closed.collection), lead, "lead")) if "conflicts" in one.act.url)
    assert urlsplit(due.act.url).query == "settled=open"
    assert client.get(due.act.url).context["listing"].count == 5
    assert f'href="{due.act.url}"' in client.get(reverse("round_progress", args=[closed.uuid])).content.decode()
