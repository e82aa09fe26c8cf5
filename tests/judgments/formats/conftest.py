"""Hypothesis profile without a deadline: format tests measure no time, and machines differ."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
