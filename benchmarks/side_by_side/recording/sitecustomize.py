"""Records which files of a checkout run a function. As a folder on PYTHONPATH it does so in every process started.

ASSAY_EXECUTED names the file that gets a path a line, ASSAY_CHECKOUT the folder whose files count. What runs before
that file exists, or while a module is imported, does not count.
"""

from __future__ import annotations

import os
import sys
import threading
from types import FrameType
from typing import Any

LIST, CHECKOUT = os.environ.get("ASSAY_EXECUTED", ""), os.environ.get("ASSAY_CHECKOUT", "")
# Set for functions, not for the code of modules and classes.
FUNCTION = 0x0001
_seen: set[str] = set()
_importing = threading.local()


def record(frame: FrameType, event: str, _: Any) -> None:
    """Write down the file of a function at its first call."""
    code = frame.f_code
    if code.co_name == "<module>" and event in ("call", "return"):
        if frame.f_globals.get("__name__") == "__main__":
            return
        # The imports that began before this module end without a beginning.
        _importing.depth = max(0, getattr(_importing, "depth", 0) + (1 if event == "call" else -1))
    elif event == "call" and code.co_flags & FUNCTION and not getattr(_importing, "depth", 0):
        path = code.co_filename
        if path not in _seen and os.path.exists(LIST):
            _seen.add(path)
            if path.startswith(CHECKOUT):
                with open(LIST, "a", encoding="utf-8") as stream:
                    stream.write(f"{path}\n")


if LIST:
    _importing.depth = 1
    threading.setprofile(record)
    sys.setprofile(record)
