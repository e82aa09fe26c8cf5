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
    """One need with its spellings.

    Parameters
    ----------
    texts : tuple of str
        The spellings, the most common one first.
    shelf : str
        The shelf of the answer; empty for needs across the shop.
    wants : mapping of str to tuple of str
        Fields that the answer must have, with the accepted values.
    need : str
        The need in a sentence or two, for the rater.
    popular : float
        The relative frequency of the need.
    """

    texts: tuple[str, ...]
    shelf: str
    wants: Mapping[str, tuple[str, ...]]
    need: str
    popular: float


def normalize(text: str) -> str:
    """Return the lookup form of a typed query: NFKC, case folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@lru_cache(maxsize=1)
def asks() -> tuple[Ask, ...]:
    """Return all needs of the shop, those across shelves last."""
    return (*_of_shelves(), *_of_brands())


@lru_cache(maxsize=1)
def by_text() -> dict[str, Ask]:
    """Return the need of each normalized spelling."""
    return {normalize(text): ask for ask in asks() for text in ask.texts}


def _of_shelves() -> Iterable[Ask]:
    for shelf in SHELVES.values():
        for place, (texts, wants, need) in enumerate(shelf.asks):
            yield Ask(tuple(texts.split("|")), shelf.key, _wanted(wants), need, shelf.popular / (1 + place) ** 1.3)


def _of_brands() -> Iterable[Ask]:
    for place, brand in enumerate(BRANDS):
        need = f"Any product of the brand {brand}. Other brands do not help."
        yield Ask((brand.lower(),), "", {"brand": (brand,)}, need, 0.9 / (1 + place))


def _wanted(text: str) -> dict[str, tuple[str, ...]]:
    """Parse ``persons=2 kind=hiking_pants/shorts``."""
    pairs = re.findall(r"(\w+)=(\S+)", text)
    return {name: tuple(values.replace("_", " ").split("/")) for name, values in pairs}
