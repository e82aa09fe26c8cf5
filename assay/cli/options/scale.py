"""The ``--scale`` option: the grades of a scale, written as ``MIN:MAX``."""

from __future__ import annotations

import argparse
import re

from assay.core.errors import NotValid

DEFAULT = "0:3"
LARGEST = 1000


def add_scale(parser: argparse.ArgumentParser) -> None:
    """Declare ``--scale``."""
    parser.add_argument("--scale", metavar="MIN:MAX", default=DEFAULT, help=f"grade scale, default {DEFAULT}")


def scale_values(text: str) -> tuple[int, ...]:
    """Read ``MIN:MAX``, two whole numbers.

    Examples
    --------
    >>> scale_values("0:3")
    (0, 1, 2, 3)
    """
    ends = re.fullmatch(r"(-?\d{1,6}):(-?\d{1,6})", text.strip())
    values = range(int(ends[1]), int(ends[2]) + 1) if ends else range(0)
    if not 2 <= len(values) <= LARGEST:
        raise NotValid(f"--scale is {text!r}; write MIN:MAX with whole numbers and MIN below MAX, such as {DEFAULT}")
    return tuple(values)
