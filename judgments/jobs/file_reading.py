"""Reading of files in a process of its own: the limits in a job and during a request, and the turns of requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from django.conf import settings

from judgments.jobs import limited_process
from judgments.jobs.limited_process import Limits
from judgments.web.concurrency_limit import Turns

# Files that a web process reads at once during requests, how many more may wait, and for how long.
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
    """Return the limits for a file that is read during a request; larger files are left to a job."""
    return Limits(
        cpu=min(SMALL_SECONDS, settings.READ_SECONDS),
        seconds=5 * SMALL_SECONDS,
        memory=min(SMALL_MEMORY, settings.READ_MEMORY_MB << 20),
        expanded=settings.JOB_FROM_BYTES,
        lines=SMALL_LINES,
    )


@cache
def turns() -> Turns:
    """Return who may have a file read in this process while they wait; whoever has no turn soon leaves it to a job."""
    return Turns(AT_ONCE, waiting=WAITING, seconds=WAITING_SECONDS)


def read_at_once(function: Callable[..., Answer], *args: Any, most: int) -> Answer:
    """Read a file of at most so many bytes, unpacked, for a page that cannot go on without it.

    Parameters
    ----------
    function, *args
        As `judgments.jobs.limited_process.call` takes them: the reader and what it reads.
    most : int
        Bytes.

    Raises
    ------
    BeyondLimits
        Reading it takes too much.
    Busy
        Others have their files read.
    """
    with turns().turn():
        limits = replace(small(), cpu=2 * SMALL_SECONDS, expanded=most, lines=max(SMALL_LINES, most // 8))
        return limited_process.call(function, *args, limits=limits)  # type: ignore[no-any-return]
