"""Insertion of examples into the Markdown of guidelines, under the headings of their grades."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from judgments.models import Example

HEADING = "Examples"
# Examples go after this heading if no heading names their grade.
BEFORE = re.compile(r"edge cases", re.IGNORECASE)
HEAD = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t#]*$")
FENCE = re.compile(r"^ {0,3}(```|~~~)")
# Characters with a meaning in Markdown.
SIGNS = re.compile(r"([\\`*_\[\]<>#|])")


def written_into(markdown: str, examples: Iterable[Example]) -> str:
    """Return the text with the examples under the headings of their grades."""
    lines = markdown.rstrip("\n").split("\n")
    for example in sorted(examples, key=lambda one: (-one.grade, one.pk)):
        place = _end_of(lines, lambda text, one=example: _names(text, one))
        if place is None:
            place = _make_section(lines, example)
        lines[place:place] = [_line(example)] if lines[place - 1].startswith("- ") else ["", _line(example)]
    return "\n".join(lines) + "\n"


def _line(example: Example) -> str:
    query, document, reason = (
        SIGNS.sub(r"\\\1", " ".join(text.split()))
        for text in (example.query_text, example.document_text, example.reason)
    )
    return f"- “{query}”: **{document}** is {example.grade}. {reason}"


def _names(heading: str, example: Example) -> bool:
    """Return whether the heading names the example's grade by value, by label, or by both."""
    value, label = str(example.grade), re.escape(example.label.casefold())
    wanted = rf"(grade\s+)?{value}(\s*[-–:,.(]?\s*{label}\)?)?" + (rf"|{label}(\s*\(?{value}\)?)?" if label else "")
    return re.fullmatch(wanted, heading.casefold()) is not None


def _headings(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return line, level and text of each heading outside code fences."""
    headings, fenced = [], False
    for at, line in enumerate(lines):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and (head := HEAD.match(line)):
            headings.append((at, len(head[1]), head[2]))
    return headings


def _end_of(lines: Sequence[str], wanted: Callable[[str], bool], *, own: bool = True) -> int | None:
    """Return the line after the first section whose heading is wanted, without trailing blank lines."""
    heads = _headings(lines)
    for number, (at, level, text) in enumerate(heads):
        if not wanted(text):
            continue
        end = next((place for place, other, _ in heads[number + 1 :] if own or other <= level), len(lines))
        while end > at + 1 and not lines[end - 1].strip():
            end -= 1
        return end
    return None


def _make_section(lines: list[str], example: Example) -> int:
    """Write the heading of the example's grade under ``## Examples``, and return the position after it."""
    title = f"### {example.grade} {example.label}".rstrip()
    place = _end_of(lines, lambda text: text.casefold() == HEADING.casefold(), own=False)
    if place is None:
        behind = _end_of(lines, lambda text: BEFORE.search(text) is not None, own=False)
        place = len(lines) if behind is None else behind
        lines[place:place] = ["", f"## {HEADING}"]
        place += 2
    lines[place:place] = ["", title]
    return place + 2
