"""Progress bars of long commands, drawn on standard error when it is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable

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
