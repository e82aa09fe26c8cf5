"""What do the tests of this room stand on? A collection that can be brought along the way step by step."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache

from tests.evaluation.stage import Stage


@pytest.fixture
def stage(collection: Any, lead: Any, rater: Any, rater2: Any, rater3: Any) -> Stage:
    cache.clear()
    return Stage(collection, lead, [rater, rater2, rater3])
