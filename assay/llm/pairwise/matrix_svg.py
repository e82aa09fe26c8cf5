"""SVG matrix of a query's battles, document against document.

Rows and columns are sorted by score, best first: if scores and battles agree, everything above the diagonal is blue and
everything below it is orange. An orange row is a bad document, a blue row is a good document, and a patch of the wrong
color marks battles whose reasons are worth reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.llm.pairwise.battles import Floats

# More squares than this are too small to distinguish and are drawn as the means of blocks.
MOST_SQUARES = 100
# Maximum number of documents with ids and scores next to the rows.
MOST_NAMED = 40
SIDE = 600.0
NAMES = 200.0
KEY = 46.0
LONGEST_NAME = 24
# Number of color steps on each side of 0.
STEPS = 4
# For a standalone file; on a page, the style sheet sets the colors of the classes.
BLUE, ORANGE, GREY = "#1f66ab", "#a54a0b", "#86837a"
# Characters that XML does not allow.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def outcomes(ids: Sequence[str], rows: Iterable[tuple[str, str, float | None]]) -> Floats:
    """Return the mean outcome of each document against each other document.

    Examples
    --------
    >>> outcomes(["x", "y"], [("x", "y", 0.5), ("y", "x", -1.0)]).tolist()
    [[nan, -0.75], [0.75, nan]]
    """
    places = {doc_id: place for place, doc_id in enumerate(ids)}
    total, met = np.zeros((len(ids), len(ids))), np.zeros((len(ids), len(ids)))
    for a, b, score in rows:
        if score is None or a not in places or b not in places or a == b:
            continue
        i, j, won = places[a], places[b], max(-1.0, min(1.0, score))
        total[j, i] += won
        total[i, j] -= won
        met[i, j] += 1
        met[j, i] += 1
    mean = np.full(total.shape, np.nan)
    return np.asarray(np.divide(total, met, out=mean, where=met > 0) + 0.0)


def matrix_svg(ids: Sequence[str], outcomes: Floats, scores: Sequence[float], *, title: str = "Battles") -> str:
    """Draw the matrix, sorted by score."""
    given, worth = np.asarray(outcomes, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if given.shape != (len(ids), len(ids)) or worth.shape != (len(ids),):
        raise NotValid(
            f"{amount(len(ids), 'document')} with {given.shape} outcomes and {worth.shape} scores; these "
            "numbers must match"
        )
    if (np.abs(given[~np.isnan(given)]) > 1).any():
        raise NotValid("an outcome must be between -1 (lost) and 1 (won)")
    order = sorted(range(len(ids)), key=lambda place: (-worth[place], ids[place].encode()))
    shown = _blocks(given[np.ix_(order, order)])
    named = [(ids[place], float(worth[place])) for place in order] if len(ids) <= MOST_NAMED else []
    left, side = (NAMES if named else 0.0), SIDE / max(1, len(shown))
    heading = f"{title}: {amount(len(ids), 'document')} compared with each other, best at the top"
    if len(shown) < len(ids):
        heading += (
            f"; each square is the mean over about {len(ids) / len(shown):.1f} by {len(ids) / len(shown):.1f} documents"
        )
    box = f"0 0 {left + SIDE:g} {SIDE + KEY:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="{box}" role="img" '
        f'width="{left + SIDE:g}" height="{SIDE + KEY:g}" font-family="sans-serif" font-size="12">'
        f"<title>{_text(heading)}</title>{_names(named, side)}"
        f'<g transform="translate({left:g} 0)">{_squares(shown, side)}'
        f'<rect width="{SIDE:g}" height="{SIDE:g}" fill="none" stroke="currentColor" stroke-opacity="0.4"/>'
        f"{_key()}</g></svg>\n"
    )


def _blocks(matrix: Floats) -> Floats:
    """Return the matrix, or the means of its blocks if it has too many squares."""
    documents = len(matrix)
    if documents <= MOST_SQUARES:
        return matrix
    cuts = np.linspace(0, documents, MOST_SQUARES + 1).round().astype(int)[:-1]

    def sums(values: Floats) -> Floats:
        return np.asarray(np.add.reduceat(np.add.reduceat(values, cuts, axis=0), cuts, axis=1))

    met = ~np.isnan(matrix)
    number = sums(met.astype(np.float64))
    empty = np.full(number.shape, np.nan)
    return np.asarray(np.divide(sums(np.where(met, matrix, 0.0)), number, out=empty, where=number > 0))


def _squares(matrix: Floats, side: float) -> str:
    """Draw the squares, one path per color step to keep the file small."""
    steps: dict[int, list[str]] = {}
    for row, column in zip(*np.nonzero(~np.isnan(matrix)), strict=True):
        value = float(matrix[row, column])
        # A draw is a separate step; any other outcome has at least the faintest color.
        step = 0 if value == 0 else max(1, round(abs(value) * STEPS)) * (1 if value > 0 else -1)
        steps.setdefault(step, []).append(f"M{column * side:g} {row * side:g}h{side:g}v{side:g}h-{side:g}z")
    return "".join(_path(step, "".join(steps[step])) for step in sorted(steps))


def _path(step: int, d: str) -> str:
    kind, color = ("better", BLUE) if step > 0 else ("worse", ORANGE)
    if step == 0:
        return f'<path class="same" fill="{GREY}" fill-opacity="0.4" d="{d}"/>'
    return f'<path class="{kind}" fill="{color}" fill-opacity="{abs(step) / STEPS:g}" d="{d}"/>'


def _names(named: Sequence[tuple[str, float]], side: float) -> str:
    size = min(12.0, side * 0.85)
    parts = []
    for place, (doc_id, score) in enumerate(named):
        short = doc_id if len(doc_id) <= LONGEST_NAME else doc_id[: LONGEST_NAME - 1] + "…"
        y = (place + 0.5) * side + size / 3
        parts.append(
            f'<text x="{NAMES - 8:g}" y="{y:g}" font-size="{size:g}" text-anchor="end" fill="currentColor">'
            f"<title>{_text(doc_id)}</title>{_text(short)} <tspan>{_number(score)}</tspan></text>"
        )
    return "".join(parts)


def _key() -> str:
    """Draw the color key."""
    steps = [step for step in range(-STEPS, STEPS + 1) if step]
    squares = "".join(
        _path(step, f"M{150 + place * 14:g} {SIDE + 16:g}h14v14h-14z") for place, step in enumerate(steps)
    )
    end = 150 + len(steps) * 14
    return (
        f'<text x="142" y="{SIDE + 28:g}" text-anchor="end" fill="currentColor">the row lost</text>{squares}'
        f'<text x="{end + 8}" y="{SIDE + 28:g}" fill="currentColor">the row won; empty: never compared</text>'
    )


def _number(score: float) -> str:
    return f"{round(score, 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")


def _text(value: str) -> str:
    return escape(_UNWRITABLE.sub("\ufffd", value))
