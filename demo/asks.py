"""Search needs of the shop's customers, with the spellings in which they are typed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from demo.catalogue import BRANDS
from demo.shelves import SHELVES


@dataclass(frozen=True)
class Ask:
    """One need with the ways in which it is typed.

    Parameters
    ----------
    texts : tuple of str
        The spellings, the usual one first.
    shelf : str
        Where the answer stands; empty for asks that go across the shop.
    wants : mapping of str to tuple of str
        Fields that the answer must have, with the values that will do.
    need : str
        The need in a sentence or two, for the rater.
    popular : float
        How often it is asked, relative to the others.
    """

    texts: tuple[str, ...]
    shelf: str
    wants: Mapping[str, tuple[str, ...]]
    need: str
    popular: float


def normalize(text: str) -> str:
    """The form by which a typed query is looked up: NFKC, case folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@lru_cache(maxsize=1)
def asks() -> tuple[Ask, ...]:
    """Every ask of the shop, those across shelves last."""
    return (*_of_shelves(), *_of_brands())


@lru_cache(maxsize=1)
def by_text() -> dict[str, Ask]:
    """Each spelling, normalized, with what is asked by it."""
    return {normalize(text): ask for ask in asks() for text in ask.texts}


def _of_shelves() -> Iterable[Ask]:
    for shelf in SHELVES.values():
        for place, (texts, wants, need) in enumerate(shelf.asks):
            yield Ask(tuple(texts.split("|")), shelf.key, _wanted(wants), need, shelf.popular / (1 + place) ** 1.3)


def _of_brands() -> Iterable[Ask]:
    for place, brand in enumerate(BRANDS):
        need = f"Looks for products of the brand {brand}, whatever they are. Other brands are of no use."
        yield Ask((brand.lower(),), "", {"brand": (brand,)}, need, 0.9 / (1 + place))


def _wanted(text: str) -> dict[str, tuple[str, ...]]:
    """``persons=2 kind=hiking_pants/shorts`` taken apart."""
    pairs = re.findall(r"(\w+)=(\S+)", text)
    return {name: tuple(values.replace("_", " ").split("/")) for name, values in pairs}
