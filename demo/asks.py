"""Search needs of the shop's customers, with the spellings of their queries."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from demo.catalogue import BRANDS
from demo.shelf import SHELVES


@dataclass(frozen=True)
class Ask:
    """One need with its spellings."""

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
