"""Function calls in a separate process with limits, to read uploaded files safely.

A file of a few kilobytes can require gigabytes of memory and minutes of time. The process that reads it has limits on
both, and its memory is freed when it exits. The first call starts a helper (`serve`) that imports everything and only
forks, so a call takes about ten milliseconds. Each message to the helper carries one end of a connection, on which a
fork receives the call and replies; only the return value of the function is sent back. The helper ends when its socket
is closed, and thus with the process that started it. A web process reads only small files during requests, one at a
time; a job reads the others.
"""

from __future__ import annotations

import atexit
import gc
import inspect
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from django.conf import settings

from assay.core.errors import AssayError, BeyondLimits
from judgments.jobs import process_values

if TYPE_CHECKING:
    from judgments.web.middleware import Turns

# Limit the threads of readers, because each thread reserves some of the limited address space.
ENVIRONMENT = {"POLARS_MAX_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
# Seconds between the time limit of a process and the moment when the caller stops waiting.
GRACE = 10.0
# Seconds between progress callbacks.
EVERY = 10.0
# The first byte of a message from the process: progress or result.
PROGRESS, ANSWER = b"p", b"a"
# Web requests have priority over reading files.
NICE = 10
# After the time limit, Python has this many seconds to report it before the kernel ends the process.
LAST_SECONDS = 3
# Modules that readers import on first use; the helper imports them once for all forks.
IMPORTED = ("numpy", "numpy.ma", "polars", "gzip", "csv")


@dataclass(frozen=True, slots=True)
class Limits:
    cpu: int
    seconds: int
    memory: int
    expanded: int
    lines: int

    advice: ClassVar[str] = "Split the file, or ask the operator for higher limits."

    def message(self) -> str:
        """Return the error message for a file that exceeds the limits."""
        return (
            f"Reading this file requires more than {self.cpu} s of CPU time, {self.seconds} s in total, or "
            f"{self.memory >> 20:,} MB of memory. {self.advice}"
        )


class Crashed(RuntimeError):
    """The function failed unexpectedly; the text is its traceback."""


def call(
    function: Callable[..., Any],
    *args: Any,
    limits: Limits,
    progress: Callable[[int], None] | None = None,
    watched: bool = False,
) -> Any:
    """Call a function of a module in a separate process."""
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
                    kind, answer = process_values.read(stream, limits.memory)
                    if kind != "part":
                        break
                    parts.append(answer)
        except (EOFError, OSError) as error:
            # The kernel stops the process at a limit or when memory runs out; an operator may also stop it.
            message = f"The process that read this file was stopped. Try again. {limits.advice}"
            raise BeyondLimits(message) from error
        except ValueError as error:
            raise Crashed(f"The result cannot be read: {error}") from error
    if kind == "failed" and isinstance(answer, AssayError):
        raise answer
    if kind != "done":
        raise Crashed(str(answer))
    return parts or answer


def _wait(connection: socket.socket, limits: Limits, progress: Callable[[int], None] | None) -> None:
    """Wait for the result and report progress meanwhile."""
    until, done = time.monotonic() + limits.seconds + GRACE, 0
    connection.settimeout(EVERY)
    while True:
        try:
            word = connection.recv(1)
            if word != PROGRESS:
                break
            done = int.from_bytes(connection.recv(8, socket.MSG_WAITALL), "big")
        except TimeoutError:
            if time.monotonic() > until:
                raise
        if progress is not None:
            progress(done)
    if word != ANSWER:
        raise EOFError
    connection.settimeout(limits.seconds + GRACE)


def warm() -> None:
    """Start the helper of this process in advance, so that the first call does not wait for it."""
    with _lock:
        _helper()


@atexit.register
def _end() -> None:
    """Stop the helper of this process."""
    process, asking = _started.pop(os.getpid(), (None, None))
    if process is not None and asking is not None:
        asking.close()
        process.terminate()  # it may still be importing
        process.wait(GRACE)


_lock = threading.Lock()
_started: dict[int, tuple[subprocess.Popen[bytes], socket.socket]] = {}


def _send(descriptor: int) -> None:
    """Send one end of a connection to the helper; restart the helper if it died."""
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
    """Return the socket of this process's helper; a forked process starts its own helper."""
    if os.getpid() not in _started:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-c", "from judgments.jobs.limited_process import serve; serve()"],
                stdin=theirs,
                cwd=settings.BASE_DIR,
                env={**os.environ, **ENVIRONMENT, "ASSAY_VAR": str(settings.VAR)},
            )
        _started[os.getpid()] = process, ours
    return _started[os.getpid()][1]


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
    from judgments.web.middleware import Turns  # which imports models, but `serve` is imported before Django is set up

    return Turns(AT_ONCE, waiting=WAITING, seconds=WAITING_SECONDS)


def read_at_once(function: Callable[..., Answer], *args: Any, most: int) -> Answer:
    """Read a file of limited unpacked size for a page that needs its content immediately."""
    with turns().turn():
        limits = replace(small(), cpu=2 * SMALL_SECONDS, expanded=most, lines=max(SMALL_LINES, most // 8))
        return call(function, *args, limits=limits)  # type: ignore[no-any-return]


class _TooLong(BaseException):
    """Raised at the time limit. A reader's ``except Exception`` does not catch it."""


def serve() -> None:
    """Run as the helper, in a single thread: import everything, then fork once per request."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    _import_readers()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent process
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the exit status of forks is not read
    gc.disable()  # forks are too short-lived to need it
    asking = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # an open copy in the fork would keep the helper's connection open
    with socket.socket(fileno=asking) as requests:
        while True:
            message, descriptors, _, _ = socket.recv_fds(requests, 1, 1)
            if not message:
                return
            with suppress(OSError):  # if the fork fails, closing the connection tells the caller
                if os.fork() == 0:
                    requests.close()
                    _work(socket.socket(fileno=descriptors[0]))
            for descriptor in descriptors:
                os.close(descriptor)


def _import_readers() -> None:
    from assay.formats import FORMATS
    from judgments.hooks import IMPORT_KINDS

    for name in IMPORTED:
        import_module(name)
    for family in (FORMATS, IMPORT_KINDS):
        for name in family:
            family[name]


def _work(connection: socket.socket) -> NoReturn:
    """Read a request in a fork, call the function, reply and exit."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with connection.makefile("rb") as stream:
            limits, function, args, watched = pickle.load(stream)  # noqa: S301 (from the parent process)
        _confine(limits)
        try:
            answer = function(*args, **({"progress": partial(_tell_progress, connection)} if watched else {}))
            if inspect.isgenerator(answer):
                first = next(answer)
                _answer(connection, chain([("part", first)], (("part", part) for part in answer), [("done", None)]))
            else:
                _answer(connection, [("done", answer)])
        except (MemoryError, RecursionError, _TooLong):
            _answer(connection, [("failed", BeyondLimits(limits.message()))])
        except AssayError as error:
            _answer(connection, [("failed", error)])
        except BrokenPipeError:
            pass  # the caller stopped waiting
        except Exception:
            _answer(connection, [("crashed", traceback.format_exc())])
        status = 0
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(status)


def _confine(limits: Limits) -> None:
    """Apply the limits to the current process."""
    from assay.formats import text_lines

    text_lines.CEILING = text_lines.Ceiling(limits.expanded, limits.lines)
    os.nice(NICE)
    for name in (signal.SIGXCPU, signal.SIGALRM):
        signal.signal(name, _too_long)
    signal.setitimer(signal.ITIMER_REAL, limits.seconds)
    _limit(resource.RLIMIT_CPU, limits.cpu, limits.cpu + LAST_SECONDS)
    _limit(resource.RLIMIT_CORE, 0, 0)
    if has := _address_space():
        _limit(resource.RLIMIT_AS, has + limits.memory, has + limits.memory)


def _tell_progress(connection: socket.socket, done: int) -> None:
    connection.sendall(PROGRESS + done.to_bytes(8, "big"))


def _answer(connection: socket.socket, answers: Iterable[tuple[str, Any]]) -> None:
    """Send the result. If that fails, exit, because part of it may have been sent."""
    connection.sendall(ANSWER)
    try:
        with connection.makefile("wb") as stream:
            try:
                for answer in answers:
                    process_values.write(answer, stream)
            except TypeError:  # a value that cannot be encoded has not been written at all
                process_values.write(("crashed", traceback.format_exc()), stream)
    except BaseException:
        os._exit(1)


def _too_long(*_: object) -> None:
    raise _TooLong


def _limit(kind: int, soft: int, hard: int) -> None:
    most = resource.getrlimit(kind)[1]
    allowed = [value if most == resource.RLIM_INFINITY else min(value, most) for value in (soft, hard)]
    resource.setrlimit(kind, (allowed[0], allowed[1]))


def _address_space() -> int:
    """Return the address space of this process in bytes; 0 if the system does not report it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0
