"""Acts that are done at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection

from assay.core.errors import AssayError


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """The result of each act, or the error by which it was refused; all begin at once, each in a thread of its own."""
    together = threading.Barrier(len(acts))

    def run(act: Callable[[], Any]) -> Any:
        together.wait()
        try:
            return act()
        except AssayError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(run, acts))
