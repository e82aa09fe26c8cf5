"""Rate limits and budget of a provider."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from assay.core.counted_nouns import agree, amount
from assay.core.errors import NotValid


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
        spent = f"{self.spent:.4f} of {self.usd:.4f} USD are spent, and one more question could cost {most or 0.0:.4f}"
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
