"""Profile of an evaluation: seconds by kind of work."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

Part = TypeVar("Part")


class Profile:
    """Seconds by kind of work, summed over threads and processes.

    Examples
    --------
    >>> profile = Profile()
    >>> with profile.part("matching"):
    ...     pass
    >>> list(profile.seconds), profile.seconds["matching"] < 1
    (['matching'], True)
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._lock = threading.Lock()

    def part(self, name: str) -> _Part:
        """Record the time of the enclosed work."""
        return _Part(self, name)

    def add(self, seconds: Mapping[str, float]) -> None:
        """Add times recorded elsewhere."""
        with self._lock:
            for name, spent in seconds.items():
                self.seconds[name] = self.seconds.get(name, 0.0) + spent

    def each(self, name: str, parts: Iterable[Part]) -> Iterator[Part]:
        """Pass parts on and record the time to get them."""
        waiting = iter(parts)
        while True:
            with self.part(name):
                part = next(waiting, None)
            if part is None:
                return
            yield part


class _Part:
    """Context manager for a kind of work; contextlib would take longer than a small piece of work."""

    __slots__ = ("_begin", "_name", "_profile")

    def __init__(self, profile: Profile, name: str) -> None:
        self._profile, self._name = profile, name

    def __enter__(self) -> None:
        self._begin = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._profile.add({self._name: time.perf_counter() - self._begin})
