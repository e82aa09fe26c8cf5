"""Data class of a shelf of the shop, with its products and the searches for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
