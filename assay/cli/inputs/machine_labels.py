"""Labels of one judge: its grades, failures and costs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.inputs.files import STDIN, print_warnings
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.formats.labels_jsonl import MachineLabel


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
    from assay.formats.labels import count_outcomes, judge_name, machine_grades, rows_of_judge
    from assay.formats.text_lines import Content, reusable_source

    if path != STDIN:
        source = reusable_source(Path(path))
        with Content(source, path) as content:
            name = sniff(content.head)
        if name != labels_jsonl.NAME:
            return _of_qrels(path, source, judge)
    read = labels_jsonl.read(Path(path), path=path)
    read.report.raise_if_errors()
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
