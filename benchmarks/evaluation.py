"""Time and memory of ``assay evaluate`` as a share of a peer's, with the same files and results.

    python benchmarks/evaluation.py [--only CASE] [--reps N] [--quick] [--full] [--data FOLDER] [--json FILE]

Whole processes are measured from start to exit, in turn, so that a busy machine slows both sides.
docs/benchmarks.md describes the cases. The peers are pytrec_eval, which is required, and trec_eval, ir_measures and
ranx if they are installed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from side_by_side.processes import ROOT, Command, CouldNotRun, Measured, child, measure, python_with
from side_by_side.rows import Row, note, options, print_table, short
from side_by_side.sizes import CASES, MILLION, Case

METRICS = ("nDCG@10", "AP", "RR@10", "R@100", "R@1000", "P@10", "Judged@10")
TREC_EVAL = ("ndcg_cut.10", "map", "recip_rank", "recall.100,1000", "P.10")
# How far two sides may be apart that sum the same numbers in another order; and how far apart, at least, the control
# must be, which leaves ties as they stand in the file.
SAME, DIFFERENT = 1e-9, 1e-6
QUICK_REPS = 2


# How many runs of one million rows. A run more must cost as much as the one before, and no memory; the limits leave
# room for a busy machine.
MANY, FULL_RUNS = (5, 10), 50
LINEAR_AT_MOST, PEAK_AT_MOST = 1.15, 1.25
TINY_AT_MOST, TINY_ROUNDS = 5.0, 1000


@dataclass(frozen=True)
class Files:
    """The files of a case."""

    qrels: Path
    runs: tuple[Path, ...]


def main() -> int:
    """Measure every case that was asked for."""
    args = options(__doc__, MEASURED).parse_args()
    if not python_with("pytrec_eval"):
        note("FAILED: pytrec_eval is not installed: pip install -e '.[test]', or set ASSAY_BENCH_PYTHON")
        return 1
    return print_table(MEASURED, args)


def evaluated(name: str, args: argparse.Namespace) -> Iterator[Row]:
    """Check a case, and only then time it: ours and the peer in turn, with means and then with every query."""
    case = CASES[name].small() if args.quick else CASES[name]
    files = made(case, args.data)
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        check(case, files, Path(folder))
    for name, form, words in (("means", "table", ()), ("every query", "json", ("--per-query",))):
        if words and not case.per_query:
            continue
        sides = {"ours": ours(files, *words, form=form), "theirs": peer("pytrec_eval", files, *words)}
        measurements = in_turn(sides, args.reps or (QUICK_REPS if args.quick else case.reps))
        yield from against_pytrec_eval(case, name, measurements["ours"], measurements["theirs"])
    yield from against_others(case, files)
    if case.per_query:
        profile(files)


def against_pytrec_eval(case: Case, name: str, mine: list[Measured], theirs: list[Measured]) -> Iterator[Row]:
    """Two rows: the wall, and the peak."""
    title = f"{case.title}, {name}"
    walls = [one.wall / other.wall for one, other in zip(mine, theirs, strict=True)]
    yield Row(title, "pytrec_eval's wall", walls, case.wall, case.aim, comparison_text(mine, theirs))
    peaks = [one.peak / other.peak for one, other in zip(mine, theirs, strict=True)]
    sizes = f"{middle(mine, 'peak'):.0f} MB : {middle(theirs, 'peak'):.0f} MB"
    yield Row(title, "pytrec_eval's peak", peaks, case.peak, None, sizes)


def against_others(case: Case, files: Files) -> Iterator[Row]:
    """Rows of the peers that need not be there: each once, and ours next to it."""
    trec_eval = shutil.which("trec_eval")
    if trec_eval and len(files.runs) == 1:
        command: Command = [trec_eval, "-c", *each("-m", TREC_EVAL), str(files.qrels), *map(str, files.runs)]
        yield once(case, files, "trec_eval", command, case.trec_eval)
    for name in ("ir_measures", "ranx"):
        if not python_with(name):
            continue
        warm(name, files)
        yield once(case, files, name, peer(name, files), case.ir_measures if name == "ir_measures" else None)


WARM: set[str] = set()


def warm(name: str, files: Files) -> None:
    """Let ranx compile: half a minute on its first call on a machine, which is not what is compared."""
    if name == "ranx" and name not in WARM:
        measure(peer(name, Files(files.qrels, files.runs[:1])))
        WARM.add(name)


def once(case: Case, files: Files, name: str, command: Command, at_most: float | None) -> Row:
    """One row from one pass."""
    measurements = in_turn({"ours": ours(files), "theirs": command}, 1)
    mine, theirs = measurements["ours"], measurements["theirs"]
    walls = [mine[0].wall / theirs[0].wall]
    return Row(f"{case.title}, means", f"{name}'s wall", walls, at_most, None, comparison_text(mine, theirs))


def million(args: argparse.Namespace) -> Iterator[Row]:
    """Compare time and memory of the tenth run of a million rows with those of the first."""
    counts = (*MANY, FULL_RUNS) if args.full else MANY
    case = replace(MILLION.small() if args.quick else MILLION, runs=counts[-1])
    files = made(case, args.data)
    sides = {str(count): ours(Files(files.qrels, files.runs[:count])) for count in counts}
    measurements = in_turn(sides, args.reps or (QUICK_REPS if args.quick else case.reps))
    five = measurements["5"]
    for count in counts[1:]:
        many = measurements[str(count)]
        title = f"{count} runs of {case.queries * case.depth:,} rows"
        shares = [one.wall / count / (other.wall / 5) for one, other in zip(many, five, strict=True)]
        walls = f"{middle(many, 'wall') / count:.2f} s : {middle(five, 'wall') / 5:.2f} s a run"
        yield Row(title, "wall a run of 5", shares, None if args.quick else LINEAR_AT_MOST, None, walls)
        peaks = [one.peak / other.peak for one, other in zip(many, five, strict=True)]
        sizes = f"{middle(many, 'peak'):.0f} MB : {middle(five, 'peak'):.0f} MB"
        yield Row(title, "peak of 5", peaks, None if args.quick else PEAK_AT_MOST, None, sizes)


def tiny(args: argparse.Namespace) -> Iterator[Row]:
    """One query of 100 documents, over and over in one process each."""
    rounds = str(TINY_ROUNDS // 10 if args.quick else TINY_ROUNDS)
    python = python_with("pytrec_eval") or sys.executable
    sides = {"ours": child("tiny", "assay", rounds), "theirs": child("tiny", "pytrec_eval", rounds, python=python)}
    measurements = in_turn(sides, args.reps or (QUICK_REPS if args.quick else 5))
    mine, theirs = ([json.loads(one.output) for one in measurements[side]] for side in sides)
    worst = max(abs(mine[0]["means"][name] - value) for name, value in theirs[0]["means"].items())
    if worst > SAME:
        raise CouldNotRun(f"one tiny query: a mean differs from pytrec_eval by {worst:.1e}, more than {SAME:g}")
    ratios = [one["seconds"] / other["seconds"] for one, other in zip(mine, theirs, strict=True)]
    times = " : ".join(f"{statistics.median(one['seconds'] for one in side) * 1e6:.0f} us" for side in (mine, theirs))
    limit = None if args.quick else TINY_AT_MOST
    yield Row("1 query x 100, from Python", "pytrec_eval's time", ratios, limit, None, times)


def check(case: Case, files: Files, folder: Path) -> None:
    """Hold means and queries against pytrec_eval's, and see that a wrong order of ties would be noticed."""
    mine, theirs = folder / "ours.json", folder / "theirs.json"
    measure([*ours(files, form="json"), "--out", mine])
    theirs.write_text(measure(peer("pytrec_eval", files, "--per-query", "--judged")).output)
    agreement = json.loads(measure(child("agreement", mine, theirs)).output)
    worst = max(agreement["means"], agreement["queries"])
    if worst > SAME or len(agreement["metrics"]) != len(METRICS):
        raise CouldNotRun(
            f"{case.title}: the {len(agreement['metrics'])} metrics of both sides differ by up to "
            f"{agreement['means']:.1e} in a mean and {agreement['queries']:.1e} in a query, more than {SAME:g}; "
            "inexact results are not timed"
        )
    note(f"{case.title}: {len(agreement['metrics'])} metrics agree with the peer's, every query within {worst:.0e}")
    if case.control:
        theirs.write_text(measure(peer("pytrec_eval", files, "--file-order")).output)
        apart = json.loads(measure(child("agreement", mine, theirs)).output)["means"]
        if apart < DIFFERENT:
            raise CouldNotRun(f"{case.title}: the control agrees, so the data cannot tell one tie rule from another")
        note(f"{case.title}: control (ties as in the file) is {apart:.0e} apart, as it must be")


def profile(files: Files) -> None:
    """Say where the time goes, when the command can tell."""
    if "--profile" in measure([sys.executable, "-m", "assay", "evaluate", "--help"]).output:
        measured = measure(ours(files, "--profile"))
        for line in measured.errors.splitlines():
            note(f"  {line}")


def made(case: Case, folder: Path | None) -> Files:
    """Make the files of a case, unless they are there."""
    name = f"{case.shape}-{case.queries}x{case.depth}" + (f"x{case.runs}" if case.shape == "pages" else "")
    into = (folder or ROOT / "var" / "bench").resolve() / name
    size = ["--queries", str(case.queries), "--depth", str(case.depth), "--runs", str(case.runs)]
    measure(child("data", into, case.shape, *size))
    return Files(into / "qrels.txt", tuple(into / f"run-{number:02d}.txt" for number in range(case.runs)))


def ours(files: Files, *arguments: str, form: str = "table") -> Command:
    """Name our command, in a form that tells all diagnostics."""
    paths = map(str, (files.qrels, *files.runs))
    return [sys.executable, "-m", "assay", "evaluate", *paths, *each("-m", METRICS), "--format", form, *arguments]


def each(option: str, values: Sequence[str]) -> list[str]:
    """Put an option in front of each value."""
    return [word for value in values for word in (option, value)]


def peer(name: str, files: Files, *arguments: str) -> Command:
    """Name a peer's."""
    python = python_with(name) or sys.executable
    return child("peers", name, *arguments, files.qrels, *files.runs, python=python)


def in_turn(sides: dict[str, Command], reps: int) -> dict[str, list[Measured]]:
    """Run the sides in turn, forth and back, so that neither always comes second."""
    measurements: dict[str, list[Measured]] = {name: [] for name in sides}
    for number in range(reps):
        for name in list(sides)[:: -1 if number % 2 else 1]:
            measurements[name].append(measure(sides[name]))
    return measurements


def middle(measured: list[Measured], what: str) -> float:
    """Return the median."""
    return float(statistics.median(getattr(one, what) for one in measured))


def comparison_text(mine: list[Measured], theirs: list[Measured]) -> str:
    """Tell the absolute times, what the processors did meanwhile, and how often that was taken."""
    busy = statistics.median(one.cpu / other.cpu for one, other in zip(mine, theirs, strict=True))
    return f"{middle(mine, 'wall'):.2f} s : {middle(theirs, 'wall'):.2f} s, cpu {short(busy)}, {len(mine)}x"


MEASURED: dict[str, Callable[[argparse.Namespace], Iterator[Row]]] = {
    "tiny": tiny,
    **{name: partial(evaluated, name) for name in CASES},
    "million": million,
}

if __name__ == "__main__":
    sys.exit(main())
