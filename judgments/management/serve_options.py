"""Options of ``assay serve`` and ``manage.py serve``, defined without Django."""

from __future__ import annotations

from argparse import ArgumentParser

# Threads of a process share one processor. With more threads every request takes longer, most of all batches, which
# need the most queries.
THREADS = 10


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (default 8000)")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (default 127.0.0.1; 0.0.0.0 listens on all networks)",
    )
    parser.add_argument("--threads", type=int, help=f"threads per web process (default {THREADS}, fewer on many cores)")
    parser.add_argument("--demo", action="store_true", help="load the demo collection first (needs DEBUG=1)")
