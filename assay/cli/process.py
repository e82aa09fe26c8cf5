"""Start and exit of the ``assay`` process.

The command itself is `assay.cli.main`, which other code may call too; this file holds only what concerns a whole
process.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys

# A command makes tables and few circles: Python need not look for circles after every 700 new objects.
YOUNG = 50_000
# Nothing here multiplies matrices so large that a thread more would help, and sums that must not depend on the number
# of threads prescribe one. To start and end threads takes OpenBLAS a fifth of the processor time of a small evaluation.
THREADS = {"OPENBLAS_NUM_THREADS": "1"}

# Parameters and values of glibc's mallopt.
MALLOC = {"M_TRIM_THRESHOLD": (-1, 2**31 - 1), "M_TOP_PAD": (-2, 64 << 20), "M_MMAP_THRESHOLD": (-3, 32 << 20)}


def run() -> None:
    """Run the subcommand that the process was called with, and leave."""
    for name, value in THREADS.items():
        os.environ.setdefault(name, value)
    gc.set_threshold(YOUNG)
    from assay.cli import main

    leave(main())


def leave(status: int) -> None:
    """End the process with everything written, but without taking each module and table down, which nobody needs.

    That takes a tenth of the time of a small evaluation; the system gives the memory back at once.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(status)
    atexit._run_exitfuncs()
    os._exit(status)


def keep_freed_memory() -> None:
    """Make the C library reuse freed memory instead of returning it to the system, where the library is glibc.

    A command that computes on large temporary arrays spends a fifth of its time getting the same pages again and again.
    """
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for parameter, value in MALLOC.values():
            mallopt(parameter, value)
