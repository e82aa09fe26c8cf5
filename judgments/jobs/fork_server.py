"""Fork server for reading files: a single-threaded process that forks once per file.

The server imports everything before it forks, and a fork exits after its file. ``judgments.jobs.limited_process``
starts the server with a socket as its standard input. Each message on the socket carries one end of a connection, on
which a fork receives a function call and replies. The server exits when the socket is closed, and thus with the process
that started it.
"""

from __future__ import annotations

import gc
import inspect
import os
import pickle
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any, NoReturn

from assay.core.errors import AssayError, BeyondLimits
from judgments.jobs import process_values
from judgments.jobs.limited_process import ANSWER, PROGRESS, Limits

# Web requests have priority over reading files.
NICE = 10
# After the time limit, Python has this many seconds to report it before the kernel ends the process.
LAST_SECONDS = 3
# Modules that readers import on first use; the server imports them once for all forks.
IMPORTED = ("numpy", "numpy.ma", "polars", "gzip", "csv")


class _TooLong(BaseException):
    """Raised at the time limit. A reader's ``except Exception`` does not catch it."""


def main() -> None:
    """Fork once per request."""
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


if __name__ == "__main__":
    main()
