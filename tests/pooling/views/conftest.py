"""What do the page tests share? The addresses of the example's things."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def at() -> Callable[..., str]:
    """``at("run", collection, run)``: the address of a page."""
    from django.urls import reverse

    def address(name: str, collection: Any, row: Any = None) -> str:
        return reverse(name, args=[collection.slug, *([row.uuid] if row else [])])

    return address
