"""Profile of an evaluation: seconds by kind of work."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

Part = TypeVar("Part")


class Profile:
    """Seconds by kind of work, added up over the threads and processes that do it.

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
        """Take down how long the work inside takes."""
        return _Part(self, name)

    def add(self, seconds: Mapping[str, float]) -> None:
        """Add what was taken down elsewhere."""
        with self._lock:
            for name, spent in seconds.items():
                self.seconds[name] = self.seconds.get(name, 0.0) + spent

    def each(self, name: str, parts: Iterable[Part]) -> Iterator[Part]:
        """Pass parts on and take down how long it takes to get them."""
        waiting = iter(parts)
        while True:
            with self.part(name):
                part = next(waiting, None)
            if part is None:
                return
            yield part


class _Part:
    """The work of one kind, from its begin to its end; contextlib would take longer than a small piece of work."""

    __slots__ = ("_begin", "_name", "_profile")

    def __init__(self, profile: Profile, name: str) -> None:
        self._profile, self._name = profile, name

    def __enter__(self) -> None:
        self._begin = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._profile.add({self._name: time.perf_counter() - self._begin})
