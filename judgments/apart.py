"""Call a function in a separate process with limits, to read uploaded files safely.

A file of a few kilobytes can ask for gigabytes and for minutes. The process that reads it has limits on both and
returns everything when it ends. The first call starts a helper (`apart_server`) that has imported everything and only
forks, so a call takes about ten milliseconds. Only the return value of the function comes back here.
"""

from __future__ import annotations

import atexit
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from judgments import apart_values
from judgments.core.errors import AssayError, BeyondLimits

# Readers take no more processors than these: address space is what is limited, and each thread reserves some.
ENVIRONMENT = {"POLARS_MAX_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
# Between the end of a process that used up its time and the moment at which it is no longer waited for.
GRACE = 10.0
# How often a caller hears that the work goes on.
EVERY = 10.0
# What begins a message from the process: how far it is, or its answer.
PROGRESS, ANSWER = b"p", b"a"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one process.

    Parameters
    ----------
    cpu : int
        Seconds of processor time.
    seconds : int
        Seconds by the clock.
    memory : int
        Bytes of address space, beyond what the process has when it begins.
    expanded : int
        Bytes of the file, unpacked.
    lines : int
        Lines of the file.
    """

    cpu: int
    seconds: int
    memory: int
    expanded: int
    lines: int

    def told(self) -> str:
        """Return what to tell somebody whose file took too much."""
        return (
            f"Reading this file takes more than {self.cpu} s of processor time, {self.seconds} s in all, or "
            f"{self.memory >> 20:,} MB of memory. Split the file, or ask the operator for higher limits."
        )


class Crashed(RuntimeError):
    """The function failed in a way that nobody foresaw; the text is its traceback."""


def call(
    function: Callable[..., Any],
    *args: Any,
    limits: Limits,
    progress: Callable[[int], None] | None = None,
    watched: bool = False,
) -> Any:
    """Call a function of a module in a process of its own.

    Parameters
    ----------
    function, *args
        What is called; both are pickled, and the answer comes back as `apart_values` writes it. It must not use the
        database. What a generator yields comes back as a list; each part is written alone, which takes less memory
        than one large answer.
    limits : Limits
        What the process may take.
    progress : callable, optional
        Called every few seconds, with what the function told last; an exception ends the process.
    watched : bool
        Whether the function takes ``progress=`` too, to tell how far it is.

    Raises
    ------
    BeyondLimits
        The process took more than it may.
    AssayError
        As the function raised it.
    Crashed
        The function raised anything else, or its answer is none.
    """
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            _send(theirs.fileno())
        try:
            with ours.makefile("wb") as stream:
                pickle.dump((limits, function, args, watched), stream, protocol=5)
            _wait(ours, limits, progress)
            parts = []
            with ours.makefile("rb") as stream:
                while True:
                    kind, answer = apart_values.read(stream, limits.memory)
                    if kind != "part":
                        break
                    parts.append(answer)
        except (EOFError, OSError) as error:
            raise BeyondLimits(limits.told()) from error
        except ValueError as error:
            raise Crashed(f"The answer cannot be read: {error}") from error
    if kind == "failed" and isinstance(answer, AssayError):
        raise answer
    if kind != "done":
        raise Crashed(str(answer))
    return parts or answer


def _wait(connection: socket.socket, limits: Limits, progress: Callable[[int], None] | None) -> None:
    """Wait for the answer, and tell meanwhile how far it is."""
    until, told = time.monotonic() + limits.seconds + GRACE, 0
    connection.settimeout(EVERY)
    while True:
        try:
            word = connection.recv(1)
            if word != PROGRESS:
                break
            told = int.from_bytes(connection.recv(8, socket.MSG_WAITALL), "big")
        except TimeoutError:
            if time.monotonic() > until:
                raise
        if progress is not None:
            progress(told)
    if word != ANSWER:
        raise EOFError
    connection.settimeout(limits.seconds + GRACE)


def warm() -> None:
    """Start the helper of this process, so that the first call does not wait for it."""
    with _lock:
        _helper()


@atexit.register
def _end() -> None:
    """End the helper of this process: nothing more is asked."""
    process, asking = _started.pop(os.getpid(), (None, None))
    if process is not None and asking is not None:
        asking.close()
        process.wait(GRACE)


_lock = threading.Lock()
_started: dict[int, tuple[subprocess.Popen[bytes], socket.socket]] = {}


def _send(descriptor: int) -> None:
    """Hand one end of a connection to the helper; one that died is started again."""
    with _lock:
        for last in (False, True):
            try:
                socket.send_fds(_helper(), [b"!"], [descriptor])
                return
            except OSError:
                if last:
                    raise
                _end()


def _helper() -> socket.socket:
    """The helper of this process: a process that was forked from another one has its own."""
    if os.getpid() not in _started:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", "judgments.apart_server"],
                stdin=theirs,
                cwd=settings.BASE_DIR,
                env={**os.environ, **ENVIRONMENT, "ASSAY_VAR": str(settings.VAR)},
            )
        _started[os.getpid()] = process, ours
    return _started[os.getpid()][1]
