"""Count of the examples that guidelines give for each grade."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

QUOTED = re.compile(r'"[^"]+"|“[^”]+”|«[^»]+»|\be\.\s?g\.|\bexample', re.IGNORECASE)


def examples_per_grade(markdown: str, grades: Sequence[tuple[int, str]]) -> dict[int, int]:
    """Count the examples that the guidelines give for each grade.

    An example is a filled cell in a column headed "Example" of a table with a row for the grade. It may also be a line
    with a quotation or the word "example", in a list item that begins with the grade or under a heading that contains
    it. A count of 0 means only that no example was recognized.

    Examples
    --------
    >>> examples_per_grade('- 1 Good: "tent" and a tent\\n- 0 Poor: all else', [(0, "Poor"), (1, "Good")])
    {0: 0, 1: 1}
    """
    counts = {value: 0 for value, _ in grades}
    for value, text in _parts(markdown, grades):
        counts[value] += bool(text.strip())
    return counts


def _parts(markdown: str, grades: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Return each example as the grade's value and the example's text."""
    column: int | None = None
    under: int | None = None
    for line in markdown.splitlines():
        if line.lstrip().startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            heads = [place for place, cell in enumerate(cells) if cell.casefold().startswith("example")]
            column = heads[0] if heads else column
            value = next((value for cell in cells[:2] if (value := _named(cell, grades)) is not None), None)
            if value is not None and column is not None and not heads and column < len(cells):
                yield value, cells[column]
            continue
        column = None
        if line.startswith("#"):
            under = _named(line.lstrip("# "), grades)
            continue
        item = re.match(r"\s*(?:[-*+]|\d+[.)])\s+(.*)", line)
        value = _named(item[1], grades) if item else None
        value = under if value is None else value
        if value is not None and QUOTED.search(line):
            yield value, line


def _named(text: str, grades: Sequence[tuple[int, str]]) -> int | None:
    """Return the grade with whose value or name a text begins."""
    words = re.findall(r"[\w-]+", text.casefold())[:3]
    for value, label in grades:
        if words[:1] == [str(value)] or label.casefold() in words[:2] or words[:2] == ["grade", str(value)]:
            return value
    return None
