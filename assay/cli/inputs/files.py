"""Options that commands share: named files, standard input, ``--out``, ``--scale``, seeds, and notes about them."""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import option
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.core.ratings import Ratings
    from assay.core.read_report import Report
    from assay.formats.labels_jsonl import MachineLabel
    from assay.formats.row_types import RatingRow
    from assay.scoring.results import Evaluation

DEFAULT = "0:3"
LARGEST = 1000


def add_scale(parser: argparse.ArgumentParser) -> None:
    """Declare ``--scale``."""
    option(parser, "--scale MIN:MAX", "grade scale", DEFAULT)


def scale_values(text: str) -> tuple[int, ...]:
    """Read ``MIN:MAX``, two whole numbers.

    Examples
    --------
    >>> scale_values("0:3")
    (0, 1, 2, 3)
    """
    ends = re.fullmatch(r"(-?\d{1,6}):(-?\d{1,6})", text.strip())
    values = range(int(ends[1]), int(ends[2]) + 1) if ends else range(0)
    if not 2 <= len(values) <= LARGEST:
        raise NotValid(f"--scale is {text!r}; write MIN:MAX with whole numbers and MIN below MAX, such as {DEFAULT}")
    return tuple(values)


def warn_no_effect(option: str, reason: str) -> None:
    """Print on standard error that an option has no effect."""
    sys.stderr.write(f"note: {option} has no effect: {reason}\n")


def seed_of(given: int | None, reason: str = "") -> int:
    """Return the seed, 0 by default; if there is a reason, warn that a given seed has no effect."""
    if given is not None and reason:
        warn_no_effect(f"--seed {given}", reason)
    return given or 0


STDIN = "-"
MOST_OF_A_LINE = 10_000
# Issues that are not reported: line ends, comments, blank lines, a missing final line end, delimiters, column names.
UNREMARKABLE = frozenset({"W31", "W34", "W35", "W36", "W46", "W47"})


def add_out(parser: argparse.ArgumentParser) -> None:
    """Declare ``--out``."""
    option(parser, "--out FILE", "write to FILE instead of standard output")


def write_out(text: str, out: str | None) -> None:
    """Write the output as UTF-8 with LF, to the file or to standard output."""
    if out is None or out == STDIN:
        sys.stdout.write(text)
    else:
        Path(out).write_bytes(text.encode())


def written(name: str, rows: Iterable[Any], **options: Any) -> str:
    """Return the rows as the text of a file in a format."""
    from assay.formats import FORMATS

    stream, write = io.BytesIO(), FORMATS[name].write
    assert write is not None  # noqa: S101 (the command uses only formats that can be written)
    write(rows, stream, **options)
    return stream.getvalue().decode()


def read_rows(name: str, path: str, *, warn: bool = True) -> list[Any]:
    """Return the rows of a file in a format; print its warnings on standard error."""
    from assay.formats import FORMATS
    from assay.formats.text_lines import reusable_source

    read = FORMATS[name].read(reusable_source(Path(path)), path=path).strict()
    if warn:
        print_warnings([read.report])
    return list(read.rows)


def stdin_once(paths: Sequence[str]) -> None:
    """Reject standard input for more than one file."""
    if list(paths).count(STDIN) > 1:
        raise NotValid("standard input (-) is used for more than one file; use it once")


def named(argument: str) -> tuple[str, str]:
    """Split ``NAME=PATH``; the default name is the file name up to the first dot.

    Examples
    --------
    >>> named("runs/bm25.v2.run.gz"), named("new=runs/a.run"), named("-")
    (('bm25', 'runs/bm25.v2.run.gz'), ('new', 'runs/a.run'), ('stdin', '-'))
    """
    from assay.core.run import stem

    name, path = _split(argument)
    return name or ("stdin" if path == STDIN else stem(path)), path


def named_runs(arguments: Sequence[str], *, distinct: bool = True) -> list[tuple[str, str]]:
    """Split each ``NAME=PATH``; files with the same name up to the first dot are named by the part that differs.

    Examples
    --------
    >>> named_runs(["input.A.gz", "input.B.gz", "mine=c.run"])
    [('A', 'input.A.gz'), ('B', 'input.B.gz'), ('mine', 'c.run')]
    """
    from assay.core.run import run_names

    split = [_split(argument) for argument in arguments]
    free = [path for name, path in split if not name and path != STDIN]
    given = [name or "stdin" for name, path in split if name or path == STDIN]
    free_names = iter(run_names(free, given, lambda place: _tag(free[place])))
    named = [(name or ("stdin" if path == STDIN else next(free_names)), path) for name, path in split]
    files: dict[str, list[str]] = {}
    for name, path in named:
        files.setdefault(name, []).append(path)
    twice = next((name for name, paths in files.items() if len(paths) > 1 and STDIN not in paths), None)
    if distinct and twice is not None:
        both = ", ".join(files[twice])
        raise NotValid(f"two runs are named {twice!r} ({both}); rename one with NAME=PATH")
    return named


def _split(argument: str) -> tuple[str, str]:
    """Return the given name, empty if there is none, and the path."""
    name, equals, path = argument.partition("=")
    if equals and name and "/" not in name and not Path(argument).exists():
        if not path:
            raise NotValid(f"{argument!r} does not name a file; write NAME=PATH or PATH")
        return name, path
    return "", argument


def _tag(path: str) -> str | None:
    """Return the tag in the first row of a TREC run; None if there is none or the file cannot be read."""
    import gzip

    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            fields = (gzip.GzipFile(fileobj=file) if packed else file).readline(MOST_OF_A_LINE).split()
        return fields[5].decode() if len(fields) == 6 else None
    except (OSError, EOFError, ValueError):
        return None


def print_profile(seconds: Mapping[str, float]) -> None:
    """Print the time of each step on standard error, slowest first."""
    total = sum(seconds.values()) or 1.0
    for name, spent in sorted(seconds.items(), key=lambda entry: -entry[1]):
        sys.stderr.write(f"profile: {name:<12} {spent:8.3f} s  {spent / total:4.0%}\n")


def print_unreached(evaluation: Evaluation) -> None:
    """Print on standard error which metrics are 0 because no grade counts as relevant."""
    for note in evaluation.unreached_notes:
        sys.stderr.write(f"note: {note}\n")


def print_warnings(reports: Iterable[Report]) -> None:
    """Print the warnings of the files on standard error, one line for each kind."""
    for report in reports:
        printed: set[str] = set()
        for problem in report.warnings:
            if problem.code in UNREMARKABLE or problem.code in printed:
                continue
            printed.add(problem.code)
            times = report.codes.get(problem.code, 1)
            place = report.path if problem.line is None else f"{report.path}:{problem.line}"
            more = f" ({times - 1} more such)" if times > 1 else ""
            sys.stderr.write(f"note: {place}: {problem.what}; {problem.done} [{problem.code}]{more}\n")


@dataclass(frozen=True)
class RatingFile:
    """A ratings file, sorted by the source of its rows."""

    ratings: Ratings
    adjudicated: dict[tuple[str, str], int]
    report: Report
    unrateable: frozenset[tuple[str, str]] = frozenset()


def read_ratings(path: str, values: Sequence[int]) -> RatingFile:
    """Read a ratings CSV strictly and print on standard error which rows do not count."""
    from assay.formats import FORMATS
    from assay.formats.ratings_csv import HUMAN, graded, not_graded

    read = FORMATS["ratings-csv"].read(Path(path), path=path, grades=tuple(values)).strict()
    print_warnings([read.report])
    rows: Sequence[RatingRow] = read.rows
    others = not_graded(rows, HUMAN)
    _print_left_out(path, others)
    return RatingFile(
        ratings=graded(rows, HUMAN),
        adjudicated={
            (row.query_id, row.doc_id): row.grade
            for row in others
            if row.grade is not None and row.source == "adjudicated"
        },
        report=read.report,
        unrateable=frozenset(
            (row.query_id, row.doc_id) for row in others if row.state == "unrateable" and row.source in HUMAN
        ),
    )


def _print_left_out(path: str, rows: Sequence[RatingRow]) -> None:
    states = Counter(row.state for row in rows if row.grade is None)
    sources = Counter(row.source for row in rows if row.grade is not None)
    counts = [f"{number} {what}" for what, number in (*sorted(states.items()), *sorted(sources.items()))]
    if counts:
        sys.stderr.write(
            f"note: {path}: rows not counted, because they are not grades of raters: {', '.join(counts)}\n"
        )


QRELS_HELP = (
    "the labels: TREC qrels, JSON, JSONL, CSV, Parquet, labels.jsonl of a judge, ...; - for standard input; may be .gz"
)
RUN_HELP = "TREC, JSON, JSONL, CSV, TSV or Parquet file; NAME=PATH names the run; default: the file name"
MISSING_HELP = "score judged queries without results as zero, or leave them out (skip); default: zero"
DESIGN_HELP = (
    "how the queries in --weights FILE were chosen: sampled with their probabilities (sampled), or not sampled "
    "(none); default: sampled"
)
SUBTOPIC_FORMAT = "trec-subtopic-qrels"


def add_table_formats(parser: argparse.ArgumentParser) -> None:
    """Declare ``--subtopics``, ``--qrels-format`` and ``--run-format``."""
    parser.add_argument(
        "--subtopics",
        action="store_true",
        help="read column 2 of QRELS as the subtopic, for alpha_nDCG and similar metrics",
    )
    option(parser, "--labels-of JUDGE", "the judge or model whose labels to use, if labels.jsonl has several")
    for kind in ("qrels", "run"):
        parser.add_argument(
            f"--{kind}-format",
            metavar="FORMAT",
            help=f"a format listed by assay formats --kind {kind}; default: detected from the content",
        )


def read_labels(args: argparse.Namespace, *, hashed: bool = True) -> tuple[Qrels, Report]:
    """Read QRELS with the given options; the report has the file's hash only if requested."""
    if not args.subtopics and args.qrels_format != SUBTOPIC_FORMAT:
        from assay.formats.qrels_and_runs import load_labels

        return load_labels(args.qrels, args.qrels_format, args.labels_of, hashed=hashed)
    if args.qrels_format not in (None, SUBTOPIC_FORMAT):
        raise NotValid(f"--subtopics reads {SUBTOPIC_FORMAT}, not {args.qrels_format}; remove one of the options")
    from assay.formats.trec_qrels import load_subtopic_qrels

    return load_subtopic_qrels(Path(args.qrels), args.qrels)


def about_qrels(qrels: Qrels, report: Report) -> dict[str, Any]:
    """Return the path and hash of a label file, its judge for machine labels, and the number of labels."""
    machine = {} if qrels.machine is None else {"machine": qrels.machine.to_dict()}
    size = {"queries": qrels.queries, "judgments": len(qrels)}
    return {"path": report.path, "sha256": report.sha256} | machine | size


def machine_note(qrels: Mapping[str, Any]) -> str:
    """Return the note that marks machine labels; empty for other labels.

    Examples
    --------
    >>> machine_note({"path": "qrels.txt"})
    ''
    >>> print(machine_note({"machine": {"judge": "graded a-model", "outcomes": {"graded": 8}}}))
    these are machine labels (graded a-model), not human labels
    """
    machine = qrels.get("machine")
    if machine is None:
        return ""
    failed = {name: number for name, number in machine["outcomes"].items() if name != "graded"}
    note = f"these are machine labels ({machine['judge']}), not human labels"
    if not failed:
        return note
    from assay.core.text_rules import amount

    number = sum(failed.values())
    outcomes = ", ".join(f"{count:,} {name}" for name, count in failed.items())
    verbs = "has no grade and counts" if number == 1 else "have no grade and count"
    return f"{note}; {amount(number, 'answer')} {verbs} as unjudged: {outcomes}"


def print_machine_note(qrels: Qrels, report: Report) -> None:
    """Print on standard error that the labels are machine labels, for outputs that cannot contain the note."""
    if note := machine_note(about_qrels(qrels, report)):
        sys.stderr.write(f"note: {report.path}: {note}\n")


def read_human_labels(path: str, values: Sequence[int]) -> dict[tuple[str, str], float]:
    """Read human labels: qrels in any format, or a ratings CSV aggregated by the lower median."""
    from assay.formats import sniff
    from assay.formats.qrels_and_runs import load_qrels
    from assay.formats.text_lines import Content, reusable_source

    source = reusable_source(Path(path))
    with Content(source, path) as content:
        if sniff(content.head) == "ratings-csv":
            return _median_labels(path, values)
    qrels, report = load_qrels(source, path)
    print_warnings([report])
    return {(query_id, doc_id): grade for query_id, doc_id, grade in qrels.rows()}


def _median_labels(path: str, values: Sequence[int]) -> dict[tuple[str, str], float]:
    from assay.aggregation import aggregate

    file = read_ratings(path, values)
    labels = {(query_id, doc_id): grade for query_id, doc_id, grade in aggregate(file.ratings, "median", values).rows()}
    return labels | {pair: float(grade) for pair, grade in file.adjudicated.items()}


@dataclass(frozen=True)
class MachineLabels:
    """The labels of one judge."""

    grades: dict[tuple[str, str], float]
    judge: str
    outcomes: dict[str, int]
    cost_usd: float | None
    examples: frozenset[tuple[str, str]] = frozenset()
    left_out: int = 0

    def beside_examples(
        self, people: Mapping[tuple[str, str], float]
    ) -> tuple[dict[tuple[str, str], float], MachineLabels]:
        """Return human grades and these labels without the examples."""
        shown = self.examples & (people.keys() | self.grades.keys())
        theirs, ours = (
            {pair: grade for pair, grade in one.items() if pair not in shown} for one in (people, self.grades)
        )
        return theirs, replace(self, grades=ours, left_out=len(shown))

    @property
    def cost_per_thousand(self) -> float | None:
        """Dollars per thousand graded pairs."""
        return None if self.cost_usd is None or not self.grades else 1_000 * self.cost_usd / len(self.grades)

    def qrels(self) -> Qrels:
        """Return the grades as qrels."""
        from assay.core.qrels import Qrels

        return Qrels.from_rows((query_id, doc_id, grade) for (query_id, doc_id), grade in self.grades.items())


def read_machine_labels(path: str, judge: str | None = None) -> MachineLabels:
    """Read the labels of a judge from labels.jsonl or qrels."""
    from assay.formats import labels_jsonl, sniff
    from assay.formats.labels_jsonl import count_outcomes, judge_name, machine_grades, rows_of_judge
    from assay.formats.text_lines import Content, reusable_source

    if path != STDIN:
        source = reusable_source(Path(path))
        with Content(source, path) as content:
            name = sniff(content.head)
        if name != labels_jsonl.NAME:
            return _of_qrels(path, source, judge)
    read = labels_jsonl.read(Path(path), path=path).strict()
    print_warnings([read.report])
    rows = rows_of_judge(path, read.rows, judge, "--judge")
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    return MachineLabels(
        machine_grades(path, rows),
        judge_name(rows[0]),
        count_outcomes(rows),
        sum(costs) if costs else None,
        _examples(rows),
    )


def _examples(rows: list[MachineLabel]) -> frozenset[tuple[str, str]]:
    """Return the pairs listed as examples in the judge's parameters."""
    parameters = {json.dumps((row.parameters or {}).get("examples")) for row in rows}
    # Other programs may write something else there, such as a number.
    lists = [listed for listed in map(json.loads, parameters) if isinstance(listed, list)]
    every = [one for listed in lists for one in listed]
    return frozenset((str(one[0]), str(one[1])) for one in every if isinstance(one, list) and len(one) > 1)


def _of_qrels(path: str, source: Path | str | bytes, judge: str | None) -> MachineLabels:
    from assay.formats.qrels_and_runs import load_qrels

    if judge is not None:
        raise NotValid(f"{path}: qrels do not name a judge; remove --judge")
    qrels, report = load_qrels(source, path)
    print_warnings([report])
    return MachineLabels({(query, doc): grade for query, doc, grade in qrels.rows()}, Path(path).name, {}, None)
