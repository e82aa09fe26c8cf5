"""What do the tests of this room's API share? A collection with something in every room, and the lead's program."""

from __future__ import annotations

from typing import Any

import pytest

from tests.world import World, make_world


@pytest.fixture
def world(collection: Any, lead: Any, engineer: Any, rater: Any, rater2: Any) -> World:
    return make_world(collection, lead=lead, engineer=engineer, rater=rater, rater2=rater2)


@pytest.fixture
def api(world: World, lead: Any, api_of: Any) -> Any:
    return api_of(lead)
