"""Report of a file reader: the problems by line, and what the reader did with each line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, NoReturn

from assay.core.csv_cells import csv_row, escape
from assay.core.errors import UnreadableInput
from assay.core.text_rules import amount

Severity = Literal["error", "warning"]
BINS = ("header", "blank", "comment", "accepted", "repaired", "duplicate", "conflict", "rejected")
MAX_LISTED = 1_000
MAX_RAW = 200
# Number of problems of the same kind that are shown; the others are counted.
MAX_SHOWN = 3


def severity_of(code: str) -> Severity:
    """Return the severity of a code: codes that begin with W are warnings, all others errors."""
    return "warning" if code.startswith("W") else "error"


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a file: its line, description, treatment and fix."""

    line: int | None
    column: str
    code: str
    severity: Severity
    raw: str
    what: str
    done: str
    fix: str


@dataclass(frozen=True, slots=True)
class Alike(Problem):
    """Problems with the same code, column and fix, described by the first one; `raw` is the text of those shown."""

    problems: tuple[Problem, ...]

    @property
    def number(self) -> int:
        """Return the number of problems."""
        return len(self.problems)

    @property
    def shown(self) -> tuple[Problem, ...]:
        """Return the problems that are shown: the first three."""
        return self.problems[:MAX_SHOWN]

    @property
    def lines(self) -> str:
        """Return the lines of the shown problems and the number of the others."""
        numbers = ", ".join(f"{problem.line:,}" for problem in self.shown if problem.line is not None)
        more = self.number - len(self.shown)
        return f"{numbers} and {more:,} more" if more else numbers


def grouped(problems: Iterable[Problem]) -> list[Alike]:
    """Group problems of the same kind, in order of first occurrence.

    Examples
    --------
    >>> odd = [Problem(line, "", "E12", "error", "x", "not a number", "rejected", "") for line in range(2, 8)]
    >>> [(one.lines, one.number) for one in grouped(odd)]
    [('2, 3, 4 and 3 more', 6)]
    """
    groups: dict[tuple[str, str, str, str], list[Problem]] = {}
    for problem in problems:
        groups.setdefault((problem.severity, problem.code, problem.column, problem.fix), []).append(problem)
    return [_alike(some) for some in groups.values()]


def _alike(problems: list[Problem]) -> Alike:
    raw = "\n".join(problem.raw for problem in problems[:MAX_SHOWN])
    return Alike(**asdict(problems[0]) | {"raw": raw, "problems": tuple(problems)})


@dataclass(frozen=True, slots=True)
class Report:
    """Result of reading one file."""

    path: str
    format: str
    sha256: str
    bytes: int
    lines: int
    units: int
    bins: Mapping[str, int]
    codes: Mapping[str, int] = field(default_factory=dict)
    histogram: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    error_count: int = 0
    warning_count: int = 0

    @property
    def accepted(self) -> int:
        """Return the number of usable rows, including repaired ones."""
        return self.bins["accepted"] + self.bins["repaired"]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """Return the listed errors; `error_count` counts all of them."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Return the listed warnings; `warning_count` counts all of them."""
        return tuple(problem for problem in self.problems if problem.severity == "warning")

    @property
    def ok(self) -> bool:
        """Return whether the file has no error."""
        return self.error_count == 0

    def as_json(self) -> str:
        """Return the report as a JSON object with the names of the attributes as keys."""
        import json

        content = {**asdict(self), "accepted": self.accepted, "ok": self.ok}
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"

    def as_csv(self) -> str:
        """Return the listed problems as CSV, one row each, safe to open in a spreadsheet."""
        names = ["line", "column", "code", "severity", "raw", "what", "done", "fix"]
        rows = [csv_row(names)]
        for problem in self.problems:
            cells = [getattr(problem, name) for name in names]
            rows.append(csv_row([escape("" if cell is None else str(cell)) for cell in cells]))
        return "".join(rows)

    def raise_if_errors(self) -> None:
        """Raise an exception if the file has an error."""
        if not self.ok:
            first = self.errors[0]
            more = f" ({self.error_count - 1:,} more)" if self.error_count > 1 else ""
            # A path in a JSON value is more useful than a line, because a file may have a single line.
            where = f"{first.column}: " if first.column[:1] == "[" or " / " in first.column else ""
            raise UnreadableInput(self.path, first.line, where + first.what + more, first.fix, first.code)


class RowFault(ValueError):
    """Raised for a row that cannot be used."""

    def __init__(self, code: str, what: str, fix: str = "") -> None:
        super().__init__(what)
        self.code, self.fix = code, fix


class Tally:
    """Counters of a file during reading: every unit belongs to one bin, every problem is listed with its line."""

    def __init__(self, path: str, format: str, expected: str = "") -> None:
        self.path, self.format, self.expected = path, format, expected
        self.units = 0
        self.bins = dict.fromkeys(BINS, 0)
        self.codes: dict[str, int] = {}
        self.histogram: dict[str, int] = {}
        self.counts: dict[Severity, int] = {"error": 0, "warning": 0}
        self._listed: dict[Severity, list[Problem]] = {"error": [], "warning": []}
        self._once: set[tuple[str, str]] = set()

    def read(self, number: int = 1) -> None:
        """Count units that were read before their bin is known."""
        self.units += number

    def put(self, bin: str, number: int = 1) -> None:
        """Count units in a bin."""
        self.bins[bin] += number

    def accept(self, repaired: bool = False) -> None:
        """Count a usable unit."""
        self.put("repaired" if repaired else "accepted")

    def put_blank(self, line: int) -> None:
        """Count a blank line, which is skipped."""
        self.put("blank")
        self.once("W35", line, "a blank line", done="skipped")

    def move(self, old: str, new: str) -> None:
        """Move a unit to another bin when a later line shows that it belongs there."""
        self.bins[old] -= 1
        self.bins[new] += 1

    def note(
        self,
        code: str,
        line: int | None,
        what: str,
        *,
        done: str,
        fix: str = "",
        raw: str = "",
        column: str = "",
        severity: Severity | None = None,
    ) -> None:
        """List a problem; codes that begin with W are warnings by default."""
        weight = severity or severity_of(code)
        self.codes[code] = self.codes.get(code, 0) + 1
        self.counts[weight] += 1
        if len(self._listed[weight]) < MAX_LISTED:
            self._listed[weight].append(Problem(line, column, code, weight, raw[:MAX_RAW], what, done, fix))

    def once(
        self, code: str, line: int | None, what: str, *, done: str, fix: str = "", column: str = "", times: int = 1
    ) -> None:
        """List a warning the first time that it occurs in a column, and only count it afterward."""
        if not times:
            return
        if (code, column) not in self._once:
            self._once.add((code, column))
            self.note(code, line, what, done=done, fix=fix, column=column)
            times -= 1
        self.codes[code] += times

    def reject(self, code: str, line: int | None, what: str, *, fix: str, raw: str = "", column: str = "") -> None:
        """Count one unit as rejected and list its problem."""
        self.put("rejected")
        self.note(code, line, what, done="rejected", fix=fix, raw=raw, column=column)
        if self.bins["rejected"] >= MAX_LISTED and self.bins["rejected"] == self._rows():
            self._refuse_all()

    def rejecting(self, line: int | None, *, raw: str = "", column: str = "") -> Rejecting:
        """Return a context that rejects its unit if `RowFault` is raised in it."""
        return Rejecting(self, line, raw, column)

    def _refuse_all(self) -> NoReturn:
        """Refuse a file without a usable row, naming its most frequent problem and the first occurrence."""
        faults = Counter((problem.code, problem.column) for problem in self._listed["error"])
        (code, column), number = faults.most_common(1)[0]
        first = next(one for one in self._listed["error"] if (one.code, one.column) == (code, column))
        what = (
            f"none of its first {MAX_LISTED:,} rows can be read; most have the same issue ({code}, "
            f"{amount(number, 'row')})"
        )
        fixes = dict.fromkeys(text for text in (first.fix, self.expected) if text)
        self.refuse(
            f"this does not look like {self.format}: {what}: {first.what}", line=first.line, expected="; ".join(fixes)
        )

    def refuse(self, problem: str, *, line: int | None = None, expected: str = "", code: str = "F03") -> NoReturn:
        """Refuse the whole file."""
        raise UnreadableInput(self.path, line, problem, expected or self.expected, code)

    def take_in(self, part: Tally) -> None:
        """Add the counters of a later part of the same file, which was read separately."""
        self.units += part.units
        for bin, number in part.bins.items():
            self.bins[bin] += number
        for weight, problems in part._listed.items():
            for problem in problems:
                if (problem.code, problem.column) not in self._once:
                    self._listed[weight] += [problem] if len(self._listed[weight]) < MAX_LISTED else []
                    self.counts[weight] += 1
            self.counts[weight] += part.counts[weight] - len(problems)
        for code, number in part.codes.items():
            self.codes[code] = self.codes.get(code, 0) + number
        for grade, number in part.histogram.items():
            self.histogram[grade] = self.histogram.get(grade, 0) + number
        self._once |= part._once

    def part(self) -> Tally:
        """Return new counters for a part of the same file."""
        return Tally(self.path, self.format, self.expected)

    def grade(self, grade: float, times: int = 1) -> None:
        """Count a grade in the histogram."""
        key = f"{grade:g}"
        self.histogram[key] = self.histogram.get(key, 0) + times

    def report(self, *, sha256: str = "", size: int = 0, lines: int = 0) -> Report:
        """Return the report."""
        if sum(self.bins.values()) != self.units or min(self.bins.values()) < 0:
            raise AssertionError(f"{self.path}: {self.units} units were read, but the bins contain {self.bins}")
        return Report(
            self.path,
            self.format,
            sha256,
            size,
            lines,
            self.units,
            dict(self.bins),
            dict(sorted(self.codes.items())),
            dict(sorted(self.histogram.items(), key=lambda entry: float(entry[0]))),
            (*self._listed["error"], *self._listed["warning"]),
            self.counts["error"],
            self.counts["warning"],
        )

    def _rows(self) -> int:
        return self.units - self.bins["header"] - self.bins["blank"] - self.bins["comment"]


@dataclass(slots=True)
class Rejecting:
    """Context that rejects one unit of a file if `RowFault` is raised in it."""

    tally: Tally
    line: int | None
    raw: str
    column: str

    def __enter__(self) -> None:
        """Begin to read the unit."""

    def __exit__(self, kind: object, fault: BaseException | None, trace: object) -> bool:
        """Reject the unit if it has a fault; other exceptions are raised."""
        if not isinstance(fault, RowFault):
            return False
        fix = fault.fix or self.tally.expected
        self.tally.reject(fault.code, self.line, str(fault), fix=fix, raw=self.raw, column=self.column)
        return True
