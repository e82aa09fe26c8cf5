"""Reading of files in separate processes: the limits in a job and during a request, and the queue of requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from django.conf import settings

from judgments.jobs import limited_process
from judgments.jobs.limited_process import Limits
from judgments.web.concurrency_limit import Turns

# The number of files that a web process reads at once during requests, the number that may wait, and how long.
AT_ONCE, WAITING, WAITING_SECONDS = 1, 4, 3.0
SMALL_SECONDS, SMALL_MEMORY, SMALL_LINES = 5, 512 << 20, 100_000
Answer = TypeVar("Answer")


def largest() -> Limits:
    """Return the limits for any file, which a job reads."""
    return Limits(
        cpu=settings.READ_SECONDS,
        seconds=5 * settings.READ_SECONDS,
        memory=settings.READ_MEMORY_MB << 20,
        expanded=settings.READ_EXPANDED_MB << 20,
        lines=settings.READ_LINES,
    )


def small() -> Limits:
    """Return the limits for a file that is read during a request; a job reads larger files."""
    return Limits(
        cpu=min(SMALL_SECONDS, settings.READ_SECONDS),
        seconds=5 * SMALL_SECONDS,
        memory=min(SMALL_MEMORY, settings.READ_MEMORY_MB << 20),
        expanded=settings.JOB_FROM_BYTES,
        lines=SMALL_LINES,
    )


@cache
def turns() -> Turns:
    """Return the limiter of readers in this process; a request that gets no turn soon leaves its file to a job."""
    return Turns(AT_ONCE, waiting=WAITING, seconds=WAITING_SECONDS)


def read_at_once(function: Callable[..., Answer], *args: Any, most: int) -> Answer:
    """Read a file of limited unpacked size for a page that needs its content immediately."""
    with turns().turn():
        limits = replace(small(), cpu=2 * SMALL_SECONDS, expanded=most, lines=max(SMALL_LINES, most // 8))
        return limited_process.call(function, *args, limits=limits)  # type: ignore[no-any-return]
