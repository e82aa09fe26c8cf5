"""How long does ``assay evaluate --help`` take, against bare Python with argparse and against our limit?

    python benchmarks/start_up.py [ROUNDS]

Runs both in turn, so that a busy machine slows both, and prints minimum and median.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

LIMIT = 0.25
COMMANDS = {
    "assay evaluate --help": [sys.executable, "-m", "assay", "evaluate", "--help"],
    "assay --help": [sys.executable, "-m", "assay", "--help"],
    "python -c 'import argparse'": [sys.executable, "-c", "import argparse"],
}


def seconds(command: list[str]) -> float:
    """Wall time of one fresh process."""
    start = time.perf_counter()
    subprocess.run(command, cwd=Path(__file__).resolve().parent.parent, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main(rounds: int) -> None:
    """Print the table."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(rounds):
        for name, command in COMMANDS.items():
            times[name].append(seconds(command))
    least = min(times["python -c 'import argparse'"])
    middle = statistics.median(times["python -c 'import argparse'"])
    print(f"{'':30}{'min s':>8}{'median s':>10}{'x bare min':>12}{'x bare med':>12}{'of limit':>10}")
    for name, of in times.items():
        low, mid = min(of), statistics.median(of)
        print(f"{name:30}{low:8.3f}{mid:10.3f}{low / least:12.1f}{mid / middle:12.1f}{mid / LIMIT:10.0%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
