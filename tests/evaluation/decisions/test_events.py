"""Tests of the event of a verdict: recorded once, and hidden from leads who still rate."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.decisions import decisions
from judgments.events.events import visible
from judgments.models import CollectionEvent, Delivery, Webhook
from judgments.webhooks import deliveries
from tests.evaluation.decisions.conftest import lists, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def hook(collection: Any) -> Webhook:
    return Webhook.objects.create(
        collection=collection, address="https://hooks.example.com/", events=["verdict.reached"]
    )


def test_a_verdict_is_emitted_once_after_the_round_closed(start: Any, rater: Any, lead: Any, hook: Webhook) -> None:
    decision = start(*lists(0.8))
    rate(decision, rater)
    decisions.look(decision)
    decisions.look(decision)
    event = CollectionEvent.objects.get(kind="verdict.reached")
    assert (event.data["candidate"], event.data["baseline"], event.data["verdict"]) == ("new", "current", "better")
    assert event.data["decision"] == str(decision.uuid)
    assert visible(lead, event)
    assert Delivery.objects.get().state == Delivery.State.WAITING


def test_identical_systems(start: Any) -> None:
    before, _ = lists(0.5)
    start(before, {query_id: [*of, f"{query_id}-deeper-1"] for query_id, of in before.items()})
    assert CollectionEvent.objects.get(kind="verdict.reached").data["verdict"] == "equivalent"


def test_a_webhook_reveals_no_verdict_to_a_lead_who_still_rates(
    start: Any, rater: Any, lead: Any, hook: Webhook
) -> None:
    """Pairs have two ratings, so the lead still has some to give when the verdict is reached."""
    decision = start(*lists(0.9), raters=[rater, lead], closes=False, ratings_per_pair=2, overlap=0.1)
    rate(decision, rater)
    rate(decision, lead, most=20)
    decisions.look(decision)
    event = CollectionEvent.objects.get(kind="verdict.reached")
    assert not visible(lead, event)
    assert Delivery.objects.get().state == Delivery.State.HELD
    rate(decision, lead)
    deliveries.release()
    assert Delivery.objects.get().state == Delivery.State.WAITING
