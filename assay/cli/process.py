"""Start and exit of the ``assay`` process.

The command itself is `assay.cli.main`, which other code may also call; this file handles only the process.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys

# Commands create few reference cycles, so the garbage collector can run less often than after 700 new objects.
YOUNG = 50_000
# Matrices are too small for more threads to help, and sums must not depend on the number of threads. Starting and
# stopping threads takes OpenBLAS a fifth of the processor time of a small evaluation.
THREADS = {"OPENBLAS_NUM_THREADS": "1"}

# Parameters and values of glibc's mallopt.
MALLOC = {"M_TRIM_THRESHOLD": (-1, 2**31 - 1), "M_TOP_PAD": (-2, 64 << 20), "M_MMAP_THRESHOLD": (-3, 32 << 20)}


def run() -> None:
    """Run the subcommand of the process and exit."""
    for name, value in THREADS.items():
        os.environ.setdefault(name, value)
    gc.set_threshold(YOUNG)
    from assay.cli import main

    leave(main())


def leave(status: int) -> None:
    """Exit after flushing all output, without tearing down modules and tables, which would take a tenth of the time of
    a small evaluation."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(status)
    atexit._run_exitfuncs()
    os._exit(status)


def keep_freed_memory() -> None:
    """Make glibc reuse freed memory instead of returning it to the system."""
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for parameter, value in MALLOC.values():
            mallopt(parameter, value)
