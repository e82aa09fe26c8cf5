"""Number of files of ours that run a function when a person does one thing.

    python benchmarks/executed_files.py [--only CASE] [--files] [--json FILE]

`answer` is a rater's grade from the request to the database, `upload` a run from the request to its stored score, with
the jobs of the worker and the processes that read the file, `evaluate` is ``assay evaluate`` on two small files. What
runs while modules are imported or a server starts does not count. --files also prints the files.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from side_by_side import databases
from side_by_side.processes import HERE, ROOT, CouldNotRun, child
from side_by_side.rows import Row, options, print_table

LIMITS = {"answer": 12, "upload": 40, "evaluate": 25}
EXPECTED = {"answer": {"status": 201}, "upload": {"status": 201, "runs": 1, "scored": 1}}
QRELS, RUN = "q1 0 d1 2\nq1 0 d2 0\n", "q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\n"


def main() -> int:
    """Count for every case that was asked for."""
    cases = {name: partial(counted, name) for name in LIMITS}
    parser = options(__doc__, cases)
    parser.add_argument("--files", action="store_true", help="print the files, too")
    return print_table(cases, parser.parse_args())


def counted(name: str, args: argparse.Namespace) -> Iterator[Row]:
    """Record one act and count its files."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder, databases.fresh("sqlite") as environment:
        executed = Path(folder) / "executed.txt"
        if name == "evaluate":
            evaluate(Path(folder), executed)
        else:
            act(name, executed, environment)
        files = sorted({Path(line).relative_to(ROOT) for line in executed.read_text().splitlines()})
    files = [path for path in files if path.parts[0] not in ("benchmarks", ".venv", "manage.py")]
    if args.files:
        print(*(f"   {path}" for path in files), sep="\n")
    yield Row(name, f"the limit of {LIMITS[name]}", [len(files) / LIMITS[name]], 1.0, None, f"{len(files)} files")


def act(name: str, executed: Path, environment: dict[str, str]) -> None:
    """Act in a server of its own, and check what came of it."""
    done = subprocess.run(
        child("executed", name, executed), env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CouldNotRun(done.stderr.strip()[-2000:])
    result = json.loads(done.stdout.splitlines()[-1])
    if result != EXPECTED[name]:
        raise CouldNotRun(f"{name} gave {result}, not {EXPECTED[name]}")


def evaluate(folder: Path, executed: Path) -> None:
    """Run the command on a label file and a run."""
    (folder / "qrels.txt").write_text(QRELS)
    (folder / "bm25.txt").write_text(RUN)
    executed.touch()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE / "recording"), str(ROOT)])}
    environment |= {"ASSAY_EXECUTED": str(executed), "ASSAY_CHECKOUT": f"{ROOT}{os.sep}"}
    command = [sys.executable, "-m", "assay", "evaluate", "qrels.txt", "bm25.txt"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CouldNotRun(done.stderr.strip()[-2000:])


if __name__ == "__main__":
    sys.exit(main())
