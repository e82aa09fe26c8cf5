"""Paths to the id, the score and the text of a document in an engine's response."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.connectors.connector import Hit, Setting
from assay.core.errors import NotValid
from assay.core.text_rules import id_fault
from assay.network.faults import EngineFault

MISSING = object()


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths into a response: keys and positions, joined by dots."""

    hits: str
    doc_id: str
    score: str = ""
    title: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    url: tuple[str, ...] = ()
    image: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    def read(self, reply: Any, depth: int) -> list[Hit]:
        """Return the first `depth` hits of a response."""
        hits = at(reply, self.hits)
        if not isinstance(hits, list):
            actual = (
                f"it has {', '.join(list(reply)[:8])}" if isinstance(reply, dict) and reply else "the path is missing"
            )
            raise EngineFault("reply", f"The response has no list of hits at {self.hits or 'its top level'}: {actual}.")
        return [self._hit(hit, rank) for rank, hit in enumerate(hits[:depth], start=1)]

    def _hit(self, hit: Any, rank: int) -> Hit:
        return Hit(
            doc_id=_id(at(hit, self.doc_id), self.doc_id, rank, hit),
            score=_number(at(hit, self.score)) if self.score else None,
            title=_first(hit, self.title),
            text="\n\n".join(part for part in (_text(at(hit, path)) for path in self.text) if part),
            url=_first(hit, self.url),
            image=_first(hit, self.image),
            fields=self._other_fields(hit),
        )

    def _other_fields(self, hit: Any) -> dict[str, Any]:
        shown = {path.rpartition(".")[2] for path in (*self.title, *self.text, *self.url, *self.image)}
        fields: dict[str, Any] = {}
        for path in self.fields:
            value = at(hit, path)
            if isinstance(value, dict):
                fields.update((key, one) for key, one in value.items() if key not in shown)
            elif value is not MISSING and value is not None:
                fields[path.rpartition(".")[2]] = value
        return fields


def at(value: Any, path: str) -> Any:
    """Return the value at a path, or `MISSING`.

    Examples
    --------
    >>> at({"hits": [{"_source": {"price.amount": 5}}]}, "hits.0._source.price.amount")
    5
    """
    if not path:
        return value
    if isinstance(value, list):
        place, _, rest = path.partition(".")
        return (
            at(value[int(place)], rest) if place.isascii() and place.isdigit() and int(place) < len(value) else MISSING
        )
    if not isinstance(value, dict):
        return MISSING
    if path in value:
        return value[path]
    key, _, rest = path.partition(".")
    return at(value[key], rest) if rest and key in value else MISSING


def mapping_settings(**defaults: str) -> tuple[Setting, ...]:
    """Return the settings that map the fields of a JSON response; defaults by name."""
    return tuple(
        Setting(name, title, description, defaults.get(name, ""), required=name == "doc_id")
        for name, title, description in (
            ("hits", "List of hits", "The path to the list of hits in the response, for example hits.hits."),
            ("doc_id", "Id", "The path to the document's id within a hit."),
            ("score", "Score", "The path to the score within a hit; empty if the engine returns none."),
            (
                "title",
                "Title",
                (
                    "The path to the title within a hit; of several comma-separated paths, the first with a value is "
                    "used."
                ),
            ),
            ("text", "Text", "The path to the text for raters; the texts of several comma-separated paths are joined."),
            ("url", "Page address", "The path to the address of the document's page."),
            ("image", "Image", "The path to the address of an image."),
            (
                "fields",
                "Other fields",
                "Comma-separated paths to other fields for raters; an object adds all its keys.",
            ),
        )
    )


def mapping_of(values: Mapping[str, str]) -> Paths:
    """Return the mapping that these settings describe."""
    if not values["doc_id"]:
        raise NotValid(
            "doc_id is missing. A run needs document ids.", {"doc_id": "Enter the path to the id within a hit."}
        )
    several = {name: _split(values[name]) for name in ("title", "text", "url", "image", "fields")}
    return Paths(hits=values["hits"], doc_id=values["doc_id"], score=values["score"], **several)


def _split(text: str) -> tuple[str, ...]:
    return tuple(path.strip() for path in text.split(",") if path.strip())


def _id(value: Any, path: str, rank: int, hit: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        keys = ", ".join(list(hit)[:8]) if isinstance(hit, dict) else type(hit).__name__
        raise EngineFault("reply", f"Hit {rank} has no usable id at {path}; it has {keys or 'nothing'}. Fix the path.")
    if fault := id_fault(value):
        raise EngineFault("reply", f"The id of hit {rank} {fault[1]}. Use another field for the id.")
    return value


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _first(hit: Any, paths: Sequence[str]) -> str:
    return next((text for text in (_text(at(hit, path)) for path in paths) if text), "")


def _text(value: Any) -> str:
    """Return a value as text; all parts of a list, since engines store many fields as lists of one."""
    if isinstance(value, list):
        return "\n".join(text for text in (_text(part) for part in value) if text)
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
