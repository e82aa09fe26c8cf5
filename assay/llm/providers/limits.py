"""Limits of calls: rate, concurrency and budget, also shared among processes."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from assay.core.errors import NotValid
from assay.core.text_rules import agree, amount
from assay.llm.providers.protocol import Endpoint


@dataclass(frozen=True)
class Limits:
    """Limits of a run."""

    concurrency: int = 8
    per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout: float = 60.0
    attempts: int = 5
    longest_wait: float = 60.0

    def __post_init__(self) -> None:
        if not 1 <= self.concurrency <= 256:
            raise NotValid(f"the concurrency is {self.concurrency}; use 1 to 256")
        if not 1 <= self.attempts <= 20:
            raise NotValid(f"the number of attempts is {self.attempts}; use 1 to 20")
        for name in ("per_minute", "tokens_per_minute", "timeout"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise NotValid(f"{name} is {value:g}; use a number above 0")


class Bucket:
    """Token bucket that grants a number per minute, at most a tenth of it at once."""

    def __init__(self, per_minute: float | None) -> None:
        self._lock = threading.Lock()
        self._rate: float | None = None
        self._most = self._free = self._since = 0.0
        self.change(per_minute)

    def change(self, per_minute: float | None) -> None:
        """Change the rate per minute; the same rate has no effect."""
        rate = None if per_minute is None else per_minute / 60
        with self._lock:
            if rate == self._rate:
                return
            if rate is not None:
                most = max(1.0, rate * 6)
                # Borrowed amounts are still owed; without an earlier limit, the bucket starts full.
                self._free = most if self._rate is None else min(most, self._free)
                self._most, self._since = most, time.monotonic()
            self._rate = rate

    def take(self, number: float = 1.0) -> float:
        """Take this amount, and return the seconds to wait before using it. An amount above the bucket's content is
        borrowed, so the next call waits longer.
        """
        with self._lock:
            if self._rate is None:
                return 0.0
            now = time.monotonic()
            self._free = min(self._most, self._free + (now - self._since) * self._rate)
            self._since = now
            self._free -= number
            return max(0.0, -self._free / self._rate)


@dataclass
class Budget:
    """Spending limit of a run; every call reserves its highest cost first, so it is never exceeded."""

    usd: float | None = None
    calls: int | None = None
    spent: float = 0.0
    calls_made: int = 0
    _held: float = field(default=0.0, repr=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    def reserve(self, most: float | None, *, wait: bool = True) -> bool:
        """Reserve the highest cost of a call; False if that would exceed the limit."""
        if self.usd is not None and most is None:
            raise NotValid("a limit in dollars needs the prices per million input and output tokens")
        with self._changed:
            while wait and self._over(most) and self._held > 0:
                self._changed.wait()
            if self._over(most) or (self.calls is not None and self.calls_made >= self.calls):
                return False
            self._held += most or 0.0
            self.calls_made += 1
            return True

    def lose(self, most: float | None) -> bool:
        """Book a reservation as spent, and reserve the same for another attempt; False if the limit does not allow
        it. In both cases the caller settles the remaining reservation afterward, if any.
        """
        with self._changed:
            self._give_back(most)
            self.spent += most or 0.0
            while self._over(most) and self._held > 0:
                self._changed.wait()
            if self._over(most):
                return False
            self._held += most or 0.0
            return True

    def hold(self, most: float | None) -> None:
        """Reserve the cost of a call from an earlier run, even beyond the limit."""
        with self._changed:
            self._held += most or 0.0
            self.calls_made += 1

    def no_room(self, most: float | None) -> str:
        """Return why a call with this cost is not made."""
        if self.calls is not None and self.calls_made >= self.calls:
            return (
                f"the limit is reached: {self.calls_made:,} of {amount(self.calls, 'call')} "
                f"{agree(self.calls_made, 'was', 'were')} made; answers so far are saved"
            )
        spent = (
            f"{self.spent:.4f} of {self.usd:.4f} USD have been spent, and one more question could cost "
            f"{most or 0.0:.4f}"
        )
        return f"the limit is reached: {spent}; answers so far are saved"

    def settle(self, most: float | None, cost: float | None) -> None:
        """Replace a reservation with the cost; without a count, book the reservation itself."""
        with self._changed:
            self._give_back(most)
            self.spent += (most or 0.0) if cost is None else cost

    def release(self, most: float | None) -> None:
        """Cancel the reservation of a call that was not made."""
        with self._changed:
            self._give_back(most)
            self.calls_made -= 1

    def _over(self, most: float | None) -> bool:
        return self.usd is not None and self.spent + self._held + (most or 0.0) > self.usd + 1e-12

    def _give_back(self, most: float | None) -> None:
        held = self._held - (most or 0.0)
        # Rounding of float sums must not leave a remainder.
        self._held = held if held > 1e-12 else 0.0
        self._changed.notify_all()


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
