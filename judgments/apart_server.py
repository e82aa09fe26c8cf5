"""Fork server for reading files: a single-threaded process that forks once per file.

The server has imported everything before it forks, and a fork ends with its file. ``judgments.apart`` starts the
server with a socket as its standard input. Each message there carries one end of a connection; a fork reads from it
what to call, and replies on it. The server ends when the socket is closed, and so with the process that started it.
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

from judgments import apart_values
from judgments.apart import ANSWER, PROGRESS, Limits
from judgments.core.errors import AssayError, BeyondLimits

# A web page is more urgent than a file.
NICE = 10
# After its time is up, Python has so many seconds to say so; then the kernel ends the process.
LAST_SECONDS = 3
# What readers import when they are called first; here once for all of them.
IMPORTED = ("numpy", "polars", "gzip", "csv")


class _TooLong(BaseException):
    """The time is up. No reader's ``except Exception`` takes it for a fault of the file."""


def main() -> None:
    """Fork whenever somebody asks."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    _import_readers()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started this one
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how they ended
    gc.disable()  # a fork does not live long enough for it
    asking = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a fork that keeps it would seem to be a helper that lives
    with socket.socket(fileno=asking) as asked:
        while True:
            message, descriptors, _, _ = socket.recv_fds(asked, 1, 1)
            if not message:
                return
            with suppress(OSError):  # no process is to be had: whoever asked is told by the end of the connection
                if os.fork() == 0:
                    asked.close()
                    _work(socket.socket(fileno=descriptors[0]))
            for descriptor in descriptors:
                os.close(descriptor)


def _import_readers() -> None:
    from judgments.formats import FORMATS
    from judgments.import_kinds import KINDS

    for name in IMPORTED:
        import_module(name)
    for family in (FORMATS, KINDS):
        for name in family:
            family[name]


def _work(connection: socket.socket) -> NoReturn:
    """Do what is asked for, answer, and end; this process is a fork."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with connection.makefile("rb") as asked:
            limits, function, args, watched = pickle.load(asked)  # noqa: S301 (from the process that started us)
        _confine(limits)
        try:
            answer = function(*args, **({"progress": partial(_tell_progress, connection)} if watched else {}))
            if inspect.isgenerator(answer):
                first = next(answer)
                _answer(connection, chain([("part", first)], (("part", part) for part in answer), [("done", None)]))
            else:
                _answer(connection, [("done", answer)])
        except (MemoryError, RecursionError, _TooLong):
            _answer(connection, [("failed", BeyondLimits(limits.told()))])
        except AssayError as error:
            _answer(connection, [("failed", error)])
        except BrokenPipeError:
            pass  # nobody waits any more
        except Exception:
            _answer(connection, [("crashed", traceback.format_exc())])
        status = 0
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(status)


def _confine(limits: Limits) -> None:
    """Take from this process what it may not have."""
    from judgments.formats import opened

    opened.CEILING = opened.Ceiling(limits.expanded, limits.lines)
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
    """Send the answer; when that fails there is no other: half of it is on its way."""
    connection.sendall(ANSWER)
    try:
        with connection.makefile("wb") as stream:
            try:
                for answer in answers:
                    apart_values.write(answer, stream)
            except TypeError:  # of what has no form nothing was written
                apart_values.write(("crashed", traceback.format_exc()), stream)
    except BaseException:
        os._exit(1)


def _too_long(*_: object) -> None:
    raise _TooLong


def _limit(kind: int, soft: int, hard: int) -> None:
    most = resource.getrlimit(kind)[1]
    allowed = [value if most == resource.RLIM_INFINITY else min(value, most) for value in (soft, hard)]
    resource.setrlimit(kind, (allowed[0], allowed[1]))


def _address_space() -> int:
    """Bytes of address space that this process has; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


if __name__ == "__main__":
    main()
