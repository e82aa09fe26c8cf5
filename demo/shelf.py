"""Shelves of the shop with their products and the searches for them, read from the JSON file of each department."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# In the order of the catalogue.
DEPARTMENTS = ("camp", "carry", "wear", "feet", "cook", "tools", "climb")

COLORS = ("Moss", "Slate", "Ember", "Ink Blue", "Sand", "Charcoal", "Pine", "Rust", "Lichen", "Dusk")


@dataclass(frozen=True)
class Shelf:
    """Products of one kind."""

    key: str
    category: str
    title: str
    traits: tuple[str, ...]
    rows: tuple[tuple[str | int | float, ...], ...]
    opens: tuple[str, ...]
    closes: tuple[str, ...]
    asks: tuple[tuple[str, str, str], ...]
    says: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    starts: Mapping[str, str] = field(default_factory=dict)
    near: tuple[str, ...] = ()
    scales: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    colors: tuple[str, ...] = COLORS
    popular: float = 1.0


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    return {key: _frozen(part) for key, part in value.items()} if isinstance(value, dict) else value


def _department(name: str) -> list[dict[str, Any]]:
    text = (Path(__file__).parent / "shelves" / f"{name}.json").read_text(encoding="utf-8")
    return [_frozen(shelf) for shelf in json.loads(text)]


SHELVES = {shelf["key"]: Shelf(**shelf) for name in DEPARTMENTS for shelf in _department(name)}
