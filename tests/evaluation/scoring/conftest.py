"""A snapshot of two systems, and the scores of both."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.models import Scoring
from evaluation.scoring import scoring
from judgments.models import Snapshot
from tests.evaluation.stage import Stage


@pytest.fixture
def snapshot(stage: Stage) -> Snapshot:
    return stage.whole_way()


@pytest.fixture
def without_runs(stage: Stage) -> Snapshot:
    """A snapshot of given pairs in a collection without runs."""
    round_ = stage.listed()
    stage.graded(round_, lambda pair, place: 1)
    return stage.frozen(round_)


@pytest.fixture
def scored(snapshot: Snapshot, collection: Any, engineer: Any) -> list[Scoring]:
    return scoring.score_runs(snapshot, list(collection.runs.order_by("name")), actor=engineer)
