"""Warnings about options that have no effect."""

from __future__ import annotations

import sys


def warn_no_effect(option: str, reason: str) -> None:
    """Print on standard error that an option has no effect."""
    sys.stderr.write(f"note: {option} has no effect: {reason}\n")


def seed_of(given: int | None, reason: str = "") -> int:
    """Return the seed, 0 by default; if there is a reason, warn that a given seed has no effect."""
    if given is not None and reason:
        warn_no_effect(f"--seed {given}", reason)
    return given or 0
