"""Run every benchmark of this folder in turn and print one table of ratios.

    make bench
    make bench BENCH="--only evaluation/large --reps 5"
    python benchmarks/run.py [--only FILE[/CASE]] [--reps N] [--quick] [--full] [--data FOLDER] [--json FILE]

Returns 1 if a benchmark could not run or two sides did not compute the same; with --strict, also if a limit is
missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from side_by_side.rows import Row, options, read, table

HERE = Path(__file__).resolve().parent
# Minutes of downloads and of building a .venv: left out of a quick look.
NOT_QUICK = {"first_run"}


def main() -> int:
    """Run what was asked for; print and write what it said."""
    files = sorted(path.stem for path in HERE.glob("*.py") if path != Path(__file__).resolve())
    parser = options(__doc__, ())
    parser.add_argument(
        "--only", metavar="FILE[/CASE]", action="append", help=f"may be repeated; files: {', '.join(files)}"
    )
    parser.add_argument("--strict", action="store_true", help="answer 1 when a limit is missed")
    args = parser.parse_args()
    wanted = [one.partition("/")[::2] for one in args.only or files]
    unknown = sorted({name for name, _ in wanted} - set(files))
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(files)}")
    status, rows = 0, []
    for name in dict.fromkeys(name for name, _ in wanted):
        if args.quick and name in NOT_QUICK and not args.only:
            print(f"== {name}: left out of --quick", flush=True)
            continue
        failed, case_rows = case_output(name, [case for of, case in wanted if of == name and case], args)
        status |= failed
        rows += case_rows
    if rows:
        print("\n" + table(rows))
    missed = sum(row.verdict == "FAIL" for row in rows)
    print(f"{missed} of {sum(row.at_most is not None for row in rows)} limits missed" + (", a case failed" * status))
    if args.json:
        args.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    return 1 if status or (args.strict and missed) else 0


def case_output(name: str, cases: list[str], args: argparse.Namespace) -> tuple[int, list[Row]]:
    """Run one file; answer whether it failed, and its rows."""
    print(f"== {name}", flush=True)
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        rows = Path(folder) / "rows.json"
        words = [word for case in cases for word in ("--only", case)]
        words += [f"--{flag}" for flag in ("quick", "full") if getattr(args, flag)]
        words += ["--reps", str(args.reps)] if args.reps else []
        words += ["--data", str(args.data.resolve())] if args.data else []
        command = [sys.executable, str(HERE / f"{name}.py"), *words, "--json", str(rows)]
        failed = bool(subprocess.run(command, cwd=HERE.parent, check=False).returncode)
        return failed, read(rows) if rows.exists() else []


if __name__ == "__main__":
    sys.exit(main())
