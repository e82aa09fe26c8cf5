"""Tests of the event of stale labels: recorded when they become stale, not at each check."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.staleness.signal import FRESH, STALE
from evaluation.freshness import freshness
from judgments.models import CollectionEvent
from tests.world import World

pytestmark = pytest.mark.django_db


def test_labels_become_stale_once(world: World, lead: Any) -> None:
    read = freshness.read_all(world.snapshot)
    one = read.report.findings[0]
    states = [FRESH, STALE, STALE, FRESH, STALE]
    for state in states:
        report = replace(read.report, findings=(replace(one, state=state),))
        assert freshness.check(world.snapshot, replace(read, report=report), actor=lead).state == state
    events = CollectionEvent.objects.filter(kind="labels.stale")
    assert events.count() == 2
    assert events[0].data["snapshot"] == str(world.snapshot.uuid)
