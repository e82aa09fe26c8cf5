"""Tests of the event of stale labels: recorded when labels become stale, not at each check."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.staleness.signal import FRESH, STALE
from evaluation.freshness import freshness
from judgments.models import CollectionEvent
from tests.world import World

pytestmark = pytest.mark.django_db


def check(world: World, actor: Any, signal: str, state: str) -> None:
    """Store a check in which only one signal is not fresh."""
    read = freshness.read_all(world.snapshot)
    findings = tuple(replace(one, state=state if one.signal.name == signal else FRESH) for one in read.report.findings)
    freshness.check(world.snapshot, replace(read, report=replace(read.report, findings=findings)), actor=actor)


def test_labels_become_stale(world: World, lead: Any) -> None:
    events = CollectionEvent.objects.filter(kind="labels.stale", data__snapshot=str(world.snapshot.uuid))
    for state, count in ((FRESH, 0), (STALE, 1), (STALE, 1), (FRESH, 1), (STALE, 2)):
        check(world, lead, "schema", state)
        assert events.count() == count


def test_labels_that_were_never_complete_do_not_become_stale(world: World, lead: Any) -> None:
    check(world, lead, "unjudged", STALE)
    assert not CollectionEvent.objects.filter(data__snapshot=str(world.snapshot.uuid), kind="labels.stale").exists()
