"""Hypothesis profile without a deadline, since machines differ and these core tests measure no time."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
