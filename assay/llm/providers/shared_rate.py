"""Shared rate limit of a provider and key, for all runs in this process. Two judges that run concurrently share a
limit, because the provider counts their calls together.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from assay.llm.providers.limits import Bucket, Limits
from assay.llm.providers.protocol import Endpoint

# Maximum number of remembered limits; the least recently used is dropped.
MOST_PACES = 256


class Pace:
    """Shared rate limits of a provider and key, and the time until which it asks to wait."""

    def __init__(self) -> None:
        self._calls, self._tokens = Bucket(None), Bucket(None)
        # Questions in flight per run; all runs together may have as many as the run with the highest limit.
        self._runs: list[int] = []
        self._in_flight, self._free = 0, threading.Condition()
        self._alone_until = 0.0
        self.ratio = Ratio()

    def keep_to(self, limits: Limits) -> None:
        """Apply these limits from now on."""
        self._calls.change(limits.per_minute)
        self._tokens.change(limits.tokens_per_minute)

    def take(self, tokens: int, most: int) -> float:
        """Take a call with these estimated and maximum tokens, and return the seconds to wait for it."""
        rest = max(self._calls.take(), self._tokens.take(self.ratio.of(tokens) + most))
        return max(rest, self._alone_until - time.monotonic())

    @contextmanager
    def run(self, concurrency: int) -> Iterator[None]:
        """Register a run with its number of parallel questions."""
        with self._free:
            self._runs.append(concurrency)
            self._free.notify_all()
        try:
            yield
        finally:
            with self._free:
                self._runs.remove(concurrency)

    @contextmanager
    def in_flight(self) -> Iterator[None]:
        """Hold a slot for a parallel question."""
        with self._free:
            while self._in_flight >= max(self._runs):
                self._free.wait()
            self._in_flight += 1
        try:
            yield
        finally:
            with self._free:
                self._in_flight -= 1
                self._free.notify()

    def leave_alone(self, seconds: float) -> None:
        """Send nothing for this many seconds, because the provider asked to wait."""
        self._alone_until = max(self._alone_until, time.monotonic() + seconds)


class Ratio:
    """Ratio of counted to estimated tokens of a provider.

    Examples
    --------
    >>> ratio = Ratio()
    >>> ratio.of(100)
    100
    >>> ratio.add(estimated=100, counted=380)
    >>> ratio.of(100)
    380
    """

    def __init__(self) -> None:
        self._estimated = self._counted = 0

    def add(self, *, estimated: int, counted: int) -> None:
        """Include a reply."""
        self._estimated, self._counted = self._estimated + estimated, self._counted + counted

    def of(self, tokens: int) -> int:
        """Return the corrected estimate; the estimate itself if nothing was counted."""
        return round(tokens * self._counted / self._estimated) if self._estimated and self._counted else tokens


_paces: OrderedDict[tuple[str, str, str], Pace] = OrderedDict()
_lock = threading.Lock()


def pace_of(endpoint: Endpoint, limits: Limits) -> Pace:
    """Return the shared pace of a provider and key, with the latest limits."""
    key = hashlib.sha256(endpoint.key.encode("utf-8", "surrogatepass")).hexdigest()
    name = endpoint.protocol.name, endpoint.base_url, key
    with _lock:
        pace = _paces.setdefault(name, Pace())
        _paces.move_to_end(name)
        while len(_paces) > MOST_PACES:
            _paces.popitem(last=False)
        pace.keep_to(limits)
    return pace
