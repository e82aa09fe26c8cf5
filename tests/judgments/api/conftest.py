"""Fixture of the judgments API tests: a collection with data for every feature."""

from __future__ import annotations

from typing import Any

import pytest

from tests.world import World, make_world


@pytest.fixture
def world(collection: Any, lead: Any, engineer: Any, rater: Any, rater2: Any) -> World:
    return make_world(collection, lead=lead, engineer=engineer, rater=rater, rater2=rater2)
