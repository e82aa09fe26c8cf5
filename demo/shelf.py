"""Data class of one shelf of the shop: its products and the searches for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

COLORS = ("Moss", "Slate", "Ember", "Ink Blue", "Sand", "Charcoal", "Pine", "Rust", "Lichen", "Dusk")


@dataclass(frozen=True)
class Shelf:
    """Products of one kind.

    Parameters
    ----------
    key : str
        The shelf's name in asks and in `near`.
    category : str
        As the shop's menu shows it.
    title : str
        Template of a title; knows brand, model, color and the traits.
    traits : tuple of str
        What the products differ in.
    rows : tuple of tuple
        One for each product: the value of each trait, then weight in grams and price in dollars.
    opens, closes : tuple of str
        First and last sentences of a description, templates like the title; they know ``weight`` too.
    says : mapping of str to tuple of str
        For a trait's value the sentences that tell it.
    starts : mapping of str to str
        For a trait's value the whole beginning, where `opens` would not fit; such a product gets no last sentence.
    asks : tuple of (str, str, str)
        Queries with their spellings separated by ``|``, the traits that they ask for (``persons=2 kind=a/b``, with
        ``_`` for a space), and the need behind them. The first is the shelf's most frequent.
    near : tuple of str
        Shelves whose products one sees the connection of, but does not want.
    scales : mapping of str to tuple of str
        Traits whose values have an order: a neighbor is nearly right.
    colors : tuple of str
        What the products come in; empty where color is no matter.
    popular : float
        How often the shelf is asked for, against 1 for an ordinary one.
    """

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
