"""Shared rate limit of one provider and key, for all runs in this process.

Two judges that run at once share one limit, since the provider counts their calls together.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from judgments.providers.limits import Bucket, Limits
from judgments.providers.protocol import Endpoint

# More than that many are not remembered: the one that was asked for longest ago begins anew.
MOST_KEPT = 256


class Pace:
    """What one provider grants under one key, and how long it wants to be left alone."""

    def __init__(self) -> None:
        self._calls, self._tokens = Bucket(None), Bucket(None)
        # How many questions each run may have in flight; all of them together as many as the boldest of them.
        self._runs: list[int] = []
        self._in_flight, self._free = 0, threading.Condition()
        self._alone_until = 0.0
        self.ratio = Ratio()

    def keep_to(self, limits: Limits) -> None:
        """Go by these limits from now on; what was taken under others stays taken."""
        self._calls.change(limits.per_minute)
        self._tokens.change(limits.tokens_per_minute)

    def take(self, tokens: int, most: int) -> float:
        """Take a call that reads so many tokens by the estimate and writes so many at most; how long to wait for it."""
        rest = max(self._calls.take(), self._tokens.take(self.ratio.of(tokens) + most))
        return max(rest, self._alone_until - time.monotonic())

    @contextmanager
    def run(self, concurrency: int) -> Iterator[None]:
        """Be one of those who ask, with so many questions in flight at most."""
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
        """Have a question in flight, once there is a place for it."""
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
        """Begin nothing for so long: the provider asked one for it, and means all."""
        self._alone_until = max(self._alone_until, time.monotonic() + seconds)


class Ratio:
    """How many tokens a provider counts for one that was estimated, by all that it counted so far.

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
        """Take one reply into account."""
        self._estimated, self._counted = self._estimated + estimated, self._counted + counted

    def of(self, tokens: int) -> int:
        """The estimate, corrected; as it is where nothing was counted."""
        return round(tokens * self._counted / self._estimated) if self._estimated and self._counted else tokens


_paces: OrderedDict[tuple[str, str, str], Pace] = OrderedDict()
_lock = threading.Lock()


def pace_of(endpoint: Endpoint, limits: Limits) -> Pace:
    """The one pace of a provider under its key; whoever comes last says how fast it is."""
    key = hashlib.sha256(endpoint.key.encode("utf-8", "surrogatepass")).hexdigest()
    name = endpoint.protocol.name, endpoint.base_url, key
    with _lock:
        pace = _paces.setdefault(name, Pace())
        _paces.move_to_end(name)
        while len(_paces) > MOST_KEPT:
            _paces.popitem(last=False)
        pace.keep_to(limits)
    return pace
