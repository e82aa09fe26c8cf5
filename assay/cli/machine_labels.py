"""Labels of a machine: its grades, its failures and its costs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.files import STDIN, tell_warnings
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.core.qrels import Qrels
    from judgments.formats.labels_jsonl import MachineLabel


@dataclass(frozen=True)
class MachineLabels:
    """The labels of one judge.

    Parameters
    ----------
    grades : dict of (query_id, doc_id) to float
        What it graded.
    judge : str
        Its name with its model, where the file says so.
    outcomes : dict of str to int
        How many answers ended in which way; empty for qrels, which hold grades alone.
    cost_usd : float or None
        What all answers cost, failures too; None where the file does not say.
    examples : set of (query_id, doc_id)
        Pairs whose grade by people the judge was shown: no measure of how well it knows them.
    left_out : int
        How many of those were taken out of a comparison.
    """

    grades: dict[tuple[str, str], float]
    judge: str
    outcomes: dict[str, int]
    cost_usd: float | None
    examples: frozenset[tuple[str, str]] = frozenset()
    left_out: int = 0

    def beside_examples(
        self, people: Mapping[tuple[str, str], float]
    ) -> tuple[dict[tuple[str, str], float], MachineLabels]:
        """People's grades and these without the examples: agreeing on what was shown is no merit."""
        shown = self.examples & (people.keys() | self.grades.keys())
        theirs, ours = (
            {pair: grade for pair, grade in one.items() if pair not in shown} for one in (people, self.grades)
        )
        return theirs, replace(self, grades=ours, left_out=len(shown))

    @property
    def cost_per_thousand(self) -> float | None:
        """Dollars for a thousand graded pairs."""
        return None if self.cost_usd is None or not self.grades else 1_000 * self.cost_usd / len(self.grades)

    def qrels(self) -> Qrels:
        """The grades as labels."""
        from judgments.core.qrels import Qrels

        return Qrels.from_rows((query_id, doc_id, grade) for (query_id, doc_id), grade in self.grades.items())


def read_machine_labels(path: str, judge: str | None = None) -> MachineLabels:
    """Read labels.jsonl, or qrels whose labels are a machine's.

    Parameters
    ----------
    path : str
        The file; ``-`` is standard input, read as labels.jsonl.
    judge : str, optional
        Only the answers of this judge or model, where the file has several.

    Raises
    ------
    UnreadableInput
        The file cannot be read.
    NotValid
        The file has several judges and none is named, the named one is not there, or nothing was graded.
    """
    from judgments.formats import labels_jsonl, sniff
    from judgments.formats.decoding import Content, kept
    from judgments.formats.labels import count_outcomes, judge_name, machine_grades, rows_of_judge

    if path != STDIN:
        source = kept(Path(path))
        with Content(source, path) as content:
            name = sniff(content.head)
        if name != labels_jsonl.NAME:
            return _of_qrels(path, source, judge)
    found = labels_jsonl.read(Path(path), path=path)
    found.report.raise_if_errors()
    tell_warnings([found.report])
    rows = rows_of_judge(path, found.rows, judge, "--judge")
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    return MachineLabels(
        machine_grades(path, rows),
        judge_name(rows[0]),
        count_outcomes(rows),
        sum(costs) if costs else None,
        _examples(rows),
    )


def _examples(rows: list[MachineLabel]) -> frozenset[tuple[str, str]]:
    """The pairs that stand as examples in the judge's parameters, as ``assay judge`` writes them there."""
    told = {json.dumps((row.parameters or {}).get("examples")) for row in rows}
    # Others write what they like there, such as how many there were.
    lists = [listed for listed in map(json.loads, told) if isinstance(listed, list)]
    every = [one for listed in lists for one in listed]
    return frozenset((str(one[0]), str(one[1])) for one in every if isinstance(one, list) and len(one) > 1)


def _of_qrels(path: str, source: Path | str | bytes, judge: str | None) -> MachineLabels:
    from judgments.formats.tables import load_qrels

    if judge is not None:
        raise NotValid(f"{path}: qrels do not say who judged; leave --judge out")
    qrels, report = load_qrels(source, path)
    tell_warnings([report])
    return MachineLabels({(query, doc): grade for query, doc, grade in qrels.rows()}, Path(path).name, {}, None)
