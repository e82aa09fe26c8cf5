"""Human or machine labels, read as qrels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.errors import NotValid, UnreadableInput
from assay.core.qrels import MachineSource, Qrels
from assay.formats.text_lines import HEAD, Content, reusable_source

if TYPE_CHECKING:
    from assay.core.read_report import Report
    from assay.formats.labels_jsonl import MachineLabel

MACHINE_FORMAT = "labels-jsonl"


def load_labels(
    path: str, format: str | None = None, labels_of: str | None = None, *, hashed: bool = True
) -> tuple[Qrels, Report]:
    """Return the labels of a file as qrels, and the report with its hash and warnings.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     line = '{"query_id": "q1", "doc_id": "d1", "outcome": "graded", "grade": 2, "judge": "words"}'
    ...     print(line, file=file, flush=True)
    ...     qrels, report = load_labels(file.name)
    >>> qrels.to_dict(), qrels.machine
    ({'q1': {'d1': 2.0}}, MachineSource(judge='words', outcomes={'graded': 1}))
    """
    source = reusable_source(Path(path))
    if format != MACHINE_FORMAT and (format is not None or not _is_labels_jsonl(path, source)):
        if labels_of is not None:
            raise NotValid(f"{path}: --labels-of applies only to labels.jsonl of a judge; remove it")
        from assay.formats.qrels_and_runs import load_qrels

        return load_qrels(source, path, format, hashed=hashed)
    from assay.formats import labels_jsonl

    read = labels_jsonl.read(source, path=path)
    read.report.raise_if_errors()
    machine, grades = machine_labels(path, read.rows, labels_of, "--labels-of")
    qrels = Qrels.from_rows((query_id, doc_id, grade) for (query_id, doc_id), grade in grades.items())
    qrels.machine = machine
    return qrels, read.report


def machine_labels(
    path: str, rows: Sequence[MachineLabel], judge: str | None, option: str
) -> tuple[MachineSource, dict[tuple[str, str], float]]:
    """Return the judge and the grade of each pair; errors as `load_labels`."""
    chosen = rows_of_judge(path, rows, judge, option)
    machine = MachineSource(judge_name(chosen[0]), count_outcomes(chosen))
    return machine, machine_grades(path, chosen)


def machine_grades(path: str, rows: Sequence[MachineLabel]) -> dict[tuple[str, str], float]:
    """Return the grade of each pair."""
    grades: dict[tuple[str, str], float] = {}
    for row in rows:
        if row.grade is not None and grades.setdefault((row.query_id, row.doc_id), float(row.grade)) != row.grade:
            what = f"the pair {row.query_id} {row.doc_id} has a different grade on an earlier line"
            raise UnreadableInput(path, row.line, what, "keep one of the two, or split the file by prompt", "E16")
    if not grades:
        if any(row.usefulness is not None for row in rows):
            raise NotValid(f"{path}: the judge gave usefulness, not grades; use assay usefulness")
        outcomes = ", ".join(f"{count:,} {name}" for name, count in count_outcomes(rows).items())
        raise NotValid(f"{path}: the judge gave no grades; outcomes: {outcomes or 'none'}")
    return grades


def rows_of_judge(path: str, rows: Sequence[MachineLabel], judge: str | None, option: str) -> list[MachineLabel]:
    """Return the answers of a judge or model; raise an error unless it is exactly one."""
    judges = Counter(judge_name(row) for row in rows)
    if judge is not None:
        wanted = [row for row in rows if judge in (row.judge, row.model, judge_name(row))]
        if not wanted or len({judge_name(row) for row in wanted}) > 1:
            raise NotValid(f"{path}: {judge!r} does not select exactly one judge; judges: {', '.join(sorted(judges))}")
        return wanted
    if len(judges) != 1:
        count = f"{len(judges)} judges: {', '.join(sorted(judges))}; name one with {option}" if judges else "no answers"
        raise NotValid(f"{path}: has {count}")
    return list(rows)


def judge_name(row: MachineLabel) -> str:
    """Return the name of a judge with its model."""
    return " ".join(word for word in (row.judge, row.model) if word) or "a judge without a name"


def count_outcomes(rows: Sequence[MachineLabel]) -> dict[str, int]:
    """Count the answers by outcome."""
    return dict(sorted(Counter(row.outcome for row in rows).items()))


def _is_labels_jsonl(path: str, source: Path | str | bytes) -> bool:
    from assay.formats import sniff

    with Content(source, path, block=HEAD, hashed=False) as content:
        # Only JSON can contain labels of a judge; tables have their own readers.
        head = content.head
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and sniff(head) == MACHINE_FORMAT
