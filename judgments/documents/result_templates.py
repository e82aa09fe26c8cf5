"""Result templates: how a collection's documents look as search results, from declared fields only.

A template has one line for each part of a result, such as ``price: {price} €``. It is text without HTML, so it can
run no script; the picture is a field of the document, and is loaded only where pages may load pictures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from assay.core.errors import NotValid
from judgments.models import Collection, Document

PARTS = ("image", "title", "price", "badges", "snippet", "note")
BUILT_IN = ("doc_id", "title", "text", "url")
LONGEST, MOST_BADGES, SHORT, SNIPPET = 2_000, 8, 200, 400
PLACEHOLDER = re.compile(r"\{([^{}|]*)(?:\|(\d{1,4}))?\}")
EXAMPLE = "title: {title}\nprice: {price} €\nbadges: {brand}, {color}\nsnippet: {text|160}"


@dataclass(frozen=True)
class Line:
    """One line of a template: the texts of a part, with the fields that they name."""

    texts: tuple[str, ...]
    names: frozenset[str]


@dataclass(frozen=True)
class Result:
    """A document as its users see it among search results."""

    title: str
    price: str = ""
    badges: tuple[str, ...] = ()
    snippet: str = ""
    note: str = ""
    image: bool = False  # whether the template shows the document's picture


@dataclass(frozen=True)
class Template:
    """A checked template."""

    lines: Mapping[str, Line] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        return {name for line in self.lines.values() for name in line.names}

    def result(self, document: Document) -> Result:
        """Return the parts of a document; a text whose fields are all empty is left out."""
        values = {**_plain(document.fields), **{name: str(getattr(document, name)) for name in BUILT_IN}}

        def texts(part: str, most: int) -> tuple[str, ...]:
            line = self.lines.get(part, Line((), frozenset()))
            return tuple(text for one in line.texts if (text := _filled(one, values, most)))

        def text(part: str, most: int = SHORT) -> str:
            return " ".join(texts(part, most))

        return Result(
            text("title") or document.title or document.doc_id,
            text("price"),
            texts("badges", SHORT)[:MOST_BADGES],
            text("snippet", SNIPPET),
            text("note"),
            "image" in self.lines,
        )


@lru_cache(maxsize=256)
def parse(text: str) -> Template:
    """Return the template; errors name the line."""
    if len(text) > LONGEST:
        raise _odd(f"The template is longer than {LONGEST:,} characters.")
    lines: dict[str, Line] = {}
    for number, written in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not written.strip():
            continue
        part, colon, pattern = (piece.strip() for piece in written.partition(":"))
        if not colon or part not in PARTS:
            raise _odd(f"Line {number}: begin with one of {', '.join(PARTS)} and a colon, such as title: {{title}}.")
        if part in lines:
            raise _odd(f"Line {number}: {part} has a line already.")
        lines[part] = _line(part, pattern, number)
    return Template(lines)


def _line(part: str, pattern: str, number: int) -> Line:
    if re.search(r"<\s*[/!a-zA-Z]", pattern):
        raise _odd(f"Line {number}: a template contains no HTML. Write texts and fields, such as {{title}}.")
    if re.search(r"[{}]", PLACEHOLDER.sub("", pattern)):
        raise _odd(f"Line {number}: a field is written {{name}} or, at most 80 characters of it, {{name|80}}.")
    if part == "image" and pattern != "{image}":
        raise _odd(f"Line {number}: the picture is that of the document; write image: {{image}}.")
    texts = tuple(one.strip() for one in pattern.split(",")) if part == "badges" else (pattern,)
    names = frozenset(match[1].strip() for match in PLACEHOLDER.finditer(pattern)) - {"image"}
    if part != "image" and not names:
        raise _odd(f"Line {number}: name a field of the documents, such as {{title}}.")
    return Line(tuple(one for one in texts if one), names)


def check(collection: Collection, text: str) -> None:
    """Refuse a template that cannot be read or that names fields of no document."""
    template = parse(text)
    unknown = template.names - set(BUILT_IN)
    if not unknown:
        return
    known: set[str] = set()
    for fields in collection.documents.filter(stub=False).values_list("fields", flat=True).iterator(chunk_size=2_000):
        known |= fields.keys()
        unknown -= fields.keys()
        if not unknown:
            return
    names = ", ".join(sorted({*BUILT_IN, *known})[:30])
    raise _odd(f"No document has the field {sorted(unknown)[0]}. Known fields: {names}.")


def result_of(collection: Collection, document: Document) -> Result | None:
    """Return the document by the collection's template; None without one."""
    return parse(collection.result_template).result(document) if collection.result_template else None


def _filled(text: str, values: Mapping[str, str], most: int) -> str:
    has_text = False

    def value(match: re.Match[str]) -> str:
        nonlocal has_text
        words = values.get(match[1].strip(), "").strip()
        has_text = has_text or bool(words)
        limit = min(int(match[2]), most) if match[2] else most
        return words if len(words) <= limit else words[: max(limit - 1, 0)].rstrip() + "…"

    filled = PLACEHOLDER.sub(value, text)
    return filled if has_text else ""


def _plain(fields: Mapping[str, Any]) -> dict[str, str]:
    plain = {}
    for name, value in fields.items():
        if isinstance(value, list):
            plain[name] = ", ".join(str(one) for one in value if not isinstance(one, dict | list))
        elif not isinstance(value, dict) and value is not None:
            plain[name] = str(value)
    return plain


def _odd(message: str) -> NotValid:
    return NotValid(message, "result_template")
