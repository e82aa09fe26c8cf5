"""Child processes of the benchmarks: wall time, peak memory and output.

A process is measured from before its start until it has ended. Its peak cannot read lower than the memory of the
process that started it, so the measuring process imports no numpy and reads no large file; child processes do that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHES = ROOT / "var" / "bench" / "pycache"
Command = Sequence[str | Path]
PEERS_PYTHON = os.environ.get("ASSAY_BENCH_PYTHON", "")


class CouldNotRun(Exception):
    """A process ended with an error, or two sides did not compute the same."""


@dataclass(frozen=True)
class Measured:
    """One process: seconds of the clock and of the processors, the peak in MB, and standard output and error."""

    wall: float
    cpu: float
    peak: float
    output: str
    errors: str


def measure(command: Command, **more: str) -> Measured:
    """Run a process to its end; raise CouldNotRun with its last words when it fails. ``more`` sets variables."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        environment = {**os.environ, **more, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(CACHES)}
        # Both sides run as they do on their second call: compiled. Otherwise the one with more Python would pay for it.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        began = time.perf_counter()
        process = subprocess.Popen(list(map(str, command)), cwd=ROOT, env=environment, stdout=output, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        # We have collected the child ourselves; without this Popen would wait for it again.
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = [_text(file) for file in (output, errors)]
    if process.returncode:
        words = "\n".join(texts[1].strip().splitlines()[-3:]) or "it said nothing"
        raise CouldNotRun(f"{' '.join(map(str, command[:6]))} ... ended with {process.returncode}: {words}")
    # Linux counts in KB, macOS in bytes.
    peak = used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e6 / 1024)
    return Measured(wall, used.ru_utime + used.ru_stime, peak, *texts)


def measured_json(command: Command, **more: str) -> Any:
    """Run a process to its end, and return the JSON in the last line of its output."""
    output = measure(command, **more).output
    try:
        return json.loads(output.splitlines()[-1])
    except (json.JSONDecodeError, IndexError) as error:
        raise CouldNotRun(f"the child printed no JSON: {error}") from error


def child(name: str, *arguments: str | Path, python: str = sys.executable) -> Command:
    """Name the command that runs a file of this folder."""
    return [python, HERE / f"{name}.py", *arguments]


@cache
def python_with(module: str) -> str | None:
    """Find the Python that has a peer installed: that of ASSAY_BENCH_PYTHON first, then ours."""
    for python in filter(None, (PEERS_PYTHON, sys.executable)):
        look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
        if subprocess.run([python, "-c", look], check=False, stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def _text(file: tempfile._TemporaryFileWrapper[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
