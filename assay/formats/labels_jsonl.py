"""Machine labels as JSONL: a judge's grade for each pair, or the type of failure."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO

from assay.core.errors import NotValid, UnreadableInput
from assay.core.outcomes import OUTCOMES
from assay.core.qrels import MachineSource
from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.grade_cells import Grades, Pick
from assay.formats.json_lines import Element, ids, is_number, rows, text, values_of, write_objects
from assay.formats.reader import open_as, reader
from assay.formats.text_lines import Content, Source
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

NAME = "labels-jsonl"
EXAMPLE = (
    '{"query_id": "q001", "doc_id": "doc-abc", "grade": 1, "relevant": true, "outcome": "graded", '
    '"judge": "token_overlap", "model": null, "prompt_sha256": null, "probabilities": null, '
    '"rationale": "5 of 8 expected tokens, 0.6 is enough", "tokens_in": null, "tokens_out": null, "cost_usd": 0.0, '
    '"raw": null, "parameters": {"min_tokens": 1, "threshold": 0.6, "query_boost": true}}\n'
    '{"query_id": "q001", "doc_id": "doc-xyz", "grade": null, "relevant": null, "outcome": "refused", '
    '"judge": "graded", "model": "a-model", "prompt_sha256": null, "probabilities": null, "rationale": null, '
    '"tokens_in": 412, "tokens_out": 9, "cost_usd": 0.0002, "raw": "I cannot help with that.", "parameters": null}\n'
)
_TEXTS = ("judge", "model", "prompt_sha256", "rationale", "raw")
_WRITTEN = (
    *("query_id", "doc_id", "grade", "relevant", "outcome", "judge", "model", "prompt_sha256", "probabilities"),
    *("rationale", "tokens_in", "tokens_out", "cost_usd", "raw", "parameters"),
)
_KNOWN = {*_WRITTEN, "usefulness"}


@dataclass(frozen=True, slots=True)
class MachineLabel:
    """A judge's answer for a pair, with a grade or a usefulness only if ``outcome`` is ``graded``."""

    query_id: str
    doc_id: str
    outcome: str
    grade: int | None = None
    relevant: bool | None = None
    judge: str = ""
    model: str = ""
    prompt_sha256: str = ""
    parameters: Mapping[str, Any] | None = None
    probabilities: Mapping[str, float] | None = None
    rationale: str = ""
    raw: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    usefulness: float | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class TextLabel(MachineLabel):
    """An answer from a file that also contains the query, and possibly the document's text and the prompt."""

    query: str = field(default="", compare=False)
    text: str = field(default="", compare=False)
    prompt: str = field(default="", compare=False)


def stream(source: Source, path: str) -> Iterator[MachineLabel]:
    """Yield the answers of a file without storing them; a pair may occur twice."""
    content, tally = open_as(source, path, NAME, EXAMPLE.partition("\n")[0])
    with content:
        for row in rows(content, tally, partial(_label, grades=None)):
            if tally.counts["error"]:
                break
            yield row
    tally.report().raise_if_errors()


def write(rows: Iterable[MachineLabel], stream: BinaryIO) -> Written:
    """Write answers in the given order, which is the order of judging."""
    return write_objects(map(_as_json, rows), stream)


def _as_json(row: MachineLabel) -> dict[str, Any]:
    return values_of(row, *_WRITTEN) | ({} if row.usefulness is None else {"usefulness": row.usefulness})


def _parse(
    content: Content, tally: Tally, *, grades: Grades = None, conflicts: Pick | None = None
) -> Iterator[MachineLabel]:
    for row in rows(content, tally, partial(_label, grades=grades), _key, conflicts):
        if row.grade is not None:
            tally.grade(row.grade)
        yield row


def _key(row: MachineLabel) -> tuple[tuple[str, ...], object]:
    who = (row.judge, row.model, row.prompt_sha256, json.dumps(row.parameters, sort_keys=True))
    answered = row.grade if row.usefulness is None else row.usefulness
    return (row.query_id, row.doc_id, *who), row.outcome if answered is None else answered


def _label(element: Element, tally: Tally, grades: Grades) -> tuple[MachineLabel, bool]:
    of = element.of
    (query_id, doc_id), numbered = ids(element, tally, {"query_id": "query", "doc_id": "document"}, _KNOWN)
    outcome, grade, relevant, pointed = _answer(of, grades)
    if pointed:
        tally.once("W32", element.line, f"the grade is written as {of['grade']}", done=f"read as {grade}")
    row = MachineLabel(
        query_id,
        doc_id,
        outcome,
        grade,
        relevant,
        parameters=_object(of, "parameters"),
        probabilities=_probabilities(of),
        tokens_in=_amount(of, "tokens_in", "a whole number, 0 or more", whole=True),
        tokens_out=_amount(of, "tokens_out", "a whole number, 0 or more", whole=True),
        cost_usd=_amount(of, "cost_usd", "a number, 0 or more"),
        usefulness=_amount(of, "usefulness", "a number from 0 to 1", most=1),
        line=element.line,
        **{name: text(of, name) for name in _TEXTS},
    )
    return row, numbered or pointed


def _answer(of: Mapping[str, Any], grades: Grades) -> tuple[str, int | None, bool | None, bool]:
    """Return outcome, grade, relevance, and whether the grade had a decimal point."""
    outcome, relevant = of.get("outcome"), of.get("relevant")
    if outcome not in OUTCOMES:
        raise RowFault("E23", f"unknown outcome {outcome!r}", f"expected one of {', '.join(OUTCOMES)}")
    if relevant is not None and not isinstance(relevant, bool):
        raise RowFault("E23", f"relevant is {relevant!r}", "expected true, false or null")
    grade, pointed = _grade(of.get("grade"), grades)
    answers = (grade is not None) + (of.get("usefulness") is not None)
    if answers != (outcome == "graded") or (relevant is not None and outcome != "graded"):
        what = f"the outcome is {outcome} with grade {grade} and relevant {relevant}"
        raise RowFault("E23", what, "only the outcome graded has a grade, and it needs one")
    return outcome, grade, relevant, pointed


def _grade(value: Any, grades: Grades) -> tuple[int | None, bool]:
    if value is None:
        return None, False
    if not is_number(value):
        raise RowFault("E12", f"the grade {value!r} is not a number", "expected a whole number or null")
    if value != int(value):
        raise RowFault("E13", f"the grade {value} is a fraction", "expected a whole number or null")
    if grades is not None and value not in grades:
        raise RowFault(
            "E14", f"the grade {value} is not on the scale", f"expected one of {', '.join(map(str, grades))}"
        )
    return int(value), isinstance(value, float)


def _object(of: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    value = of.get(name)
    if value is None or isinstance(value, dict):
        return value
    raise RowFault("E23", f"{name} is {value_kind(value)}, not an object")


def _probabilities(of: Mapping[str, Any]) -> dict[str, float] | None:
    probabilities = _object(of, "probabilities")
    for grade, value in (probabilities or {}).items():
        if not is_number(value, most=1) or value < 0:
            raise RowFault("E12", f"the probability of {grade!r} is {value!r}", "expected a number from 0 to 1")
    return probabilities


def _amount(of: Mapping[str, Any], name: str, kind: str, *, whole: bool = False, most: float = math.inf) -> Any:
    value = of.get(name)
    if value is None or (is_number(value, whole=whole, most=most) and value >= 0):
        return value
    raise RowFault("E12", f"{name} is {value!r}", f"expected {kind}, or null")


def machine_labels(
    path: str, rows: Sequence[MachineLabel], judge: str | None, option: str
) -> tuple[MachineSource, dict[tuple[str, str], float]]:
    """Return the judge and the grade of each pair; errors as `qrels_and_runs.load_labels`."""
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


read = reader(NAME, '{"query_id": "q001", "doc_id": "doc-abc", "outcome": "graded", "grade": 1}', _parse)

FORMAT = Format(
    name=NAME,
    title="Machine labels, JSONL",
    kind="labels",
    description="The answer of a machine judge for each pair: a grade, or the type of failure.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "grades": "grade scale; by default any whole number is accepted",
        "conflicts": "first, last, min or max: which of a judge's two answers for a pair to use",
    },
)
