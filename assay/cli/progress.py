"""How far is a long piece of work? Told on standard error, when that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable

WIDTH = 30


def progress(total: int, what: str) -> Callable[[int], None]:
    """Return a function that draws a bar for the number done; it draws nothing without a terminal or for one piece."""
    if total < 2 or not sys.stderr.isatty():
        return lambda done: None

    def draw(done: int) -> None:
        filled = WIDTH * done // total
        end = "\r\x1b[K" if done == total else ""
        sys.stderr.write(f"\r{what} [{'#' * filled}{'.' * (WIDTH - filled)}] {done}/{total}{end}")
        sys.stderr.flush()

    return draw
