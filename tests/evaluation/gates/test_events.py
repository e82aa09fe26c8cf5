"""Tests of the event of a failed gate: recorded once, and hidden from leads who still rate its labels."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from judgments.events.events import visible
from judgments.models import CollectionEvent
from judgments.rounds import rounds
from pooling.pools import pools
from tests.evaluation.gates.test_gates import GATES, body_of
from tests.world import World

pytestmark = pytest.mark.django_db


def test_only_a_failed_gate_is_an_event(world: World, engineer: Any, lead: Any, api_of: Callable[..., Any]) -> None:
    CollectionEvent.objects.all().delete()
    api, body = api_of(engineer), body_of(world)
    assert api.post(GATES, body, format="json").status_code == 201
    assert not CollectionEvent.objects.exists()
    failed = {**body["rules"][0], "passed": False}
    body |= {"client_id": str(uuid.uuid4()), "passed": False, "rules": [failed], "label": "Pull request 13"}
    for _ in range(2):
        api.post(GATES, body, format="json")
    event = CollectionEvent.objects.get()
    assert (event.kind, event.data["label"], event.data["failed_rules"]) == (
        "gate.failed",
        "Pull request 13",
        ["RR@3 >= 0.5"],
    )
    assert visible(lead, event)
    rounds.open_round(
        pools.make_round(world.pool, actor=lead, name="Again", guidelines=world.version, raters=[lead]), actor=lead
    )
    assert not visible(lead, event)
