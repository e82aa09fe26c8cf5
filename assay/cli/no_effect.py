"""Warnings about options that were given and had no effect."""

from __future__ import annotations

import sys


def tell_no_effect(option: str, reason: str) -> None:
    """Say on standard error that an option was given in vain: whoever wrote it expects another number."""
    sys.stderr.write(f"note: {option} has no effect: {reason}\n")


def seed_of(given: int | None, reason: str = "") -> int:
    """Return the seed, 0 where none was given; with a reason it is told that a given one has no effect."""
    if given is not None and reason:
        tell_no_effect(f"--seed {given}", reason)
    return given or 0
