"""Text for the terminal: tables with left-aligned names and right-aligned numbers, counts, and progress bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

WIDTH = 30
# Smaller files are read too quickly for a bar.
LARGE = 20_000_000


def progress_of_bytes(total: int, what: str) -> Callable[[int], None]:
    """Return a function that draws a bar for the bytes read; it does nothing without a terminal or for small files."""
    if total < LARGE or not sys.stderr.isatty():
        return lambda done: None
    draw = progress(100, what)
    drawn = [-1]

    def draw_percent(done: int) -> None:
        percent = min(100, 100 * done // total)
        if percent != drawn[0]:
            drawn[0] = percent
            draw(percent)

    return draw_percent


def progress(total: int, what: str) -> Callable[[int], None]:
    """Return a function that draws a bar for the steps done; it does nothing without a terminal or for one step."""
    if total < 2 or not sys.stderr.isatty():
        return lambda done: None

    def draw(done: int) -> None:
        filled = WIDTH * done // total
        end = "\r\x1b[K" if done == total else ""
        sys.stderr.write(f"\r{what} [{'#' * filled}{'.' * (WIDTH - filled)}] {done}/{total}{end}")
        sys.stderr.flush()

    return draw


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Align the cells of a table.

    Examples
    --------
    >>> print(text_table(["run", "AP"], [["bm25", "0.5000"]]), end="")
    run       AP
    bm25  0.5000
    """
    table = [list(header), *map(list, rows)]
    widths = [max(len(row[at]) for row in table) for at in range(len(header))]
    return "".join(
        "  ".join(
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        + "\n"
        for row in table
    )


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with a fixed number of decimals, or ``-`` if undefined.

    Examples
    --------
    >>> number(0.5), number(None)
    ('0.5000', '-')
    """
    return "-" if value is None else f"{value:.{digits}f}"
