"""Work shared among processes: a forked process for each share, without copying data. Python threads wait for each
other outside numpy, where runs of a few thousand rows spend most of their time. The calling process also takes a
share.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import BinaryIO, NoReturn, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Maximum number of results that a process may have ready in advance.
ROOM = 1 << 20
F_SETPIPE_SZ = 1031


def can_fork() -> bool:
    """Return whether this process may be forked; a fork of a process with several threads can deadlock."""
    return sys.platform == "linux" and threading.active_count() == 1


def shared_out(items: Sequence[Item], work: Callable[[Item], Result], processes: int) -> Iterator[Result]:
    """Yield the result of the work on each item, in order; errors are raised at their position."""
    sys.stdout.flush()
    sys.stderr.flush()
    children: list[tuple[int, BinaryIO]] = []
    try:
        for share in range(1, min(processes, len(items))):
            children.append(_child(items[share::processes], work, [pipe for _, pipe in children]))
        for place, item in enumerate(items):
            share = place % processes
            yield work(item) if share == 0 else _received(children[share - 1][1], item, work)
    finally:
        for process, pipe in children:
            pipe.close()
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def _child(items: Sequence[Item], work: Callable[[Item], Result], others: list[BinaryIO]) -> tuple[int, BinaryIO]:
    """Start a process with a share; return its id and the source of its results."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(read)
        for pipe in others:
            pipe.close()
        _work_off(items, work, write)
    os.close(write)
    return process, os.fdopen(read, "rb")


def _work_off(items: Sequence[Item], work: Callable[[Item], Result], write: int) -> NoReturn:
    try:
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(write, F_SETPIPE_SZ, ROOM)
        with os.fdopen(write, "wb") as pipe:
            for item in items:
                try:
                    payload = pickle.dumps((True, work(item)), pickle.HIGHEST_PROTOCOL)
                except Exception as error:
                    payload = pickle.dumps((False, error))
                pipe.write(payload)
                pipe.flush()
    finally:
        # Exit without ending or flushing anything of the forked process.
        os._exit(0)


def _received(pipe: BinaryIO, item: Item, work: Callable[[Item], Result]) -> Result:
    """Return the next result of a process; if it has died, do its work here."""
    try:
        fine, payload = pickle.load(pipe)  # noqa: S301 - our own process wrote it
    except (EOFError, pickle.UnpicklingError):
        return work(item)
    if not fine:
        raise payload
    result: Result = payload
    return result
