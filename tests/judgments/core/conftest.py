"""How long may one generated example take? As long as it likes: machines differ, and tests time nothing."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
