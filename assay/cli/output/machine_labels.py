"""Notes that mark the labels of a machine in every output that uses them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.core.read_report import Report


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
    from assay.core.counted_nouns import amount

    number = sum(failed.values())
    outcomes = ", ".join(f"{count:,} {name}" for name, count in failed.items())
    verbs = "has no grade and counts" if number == 1 else "have no grade and count"
    return f"{note}; {amount(number, 'answer')} {verbs} as unjudged: {outcomes}"


def print_machine_note(qrels: Qrels, report: Report) -> None:
    """Print on standard error that the labels are machine labels, for outputs that cannot contain the note."""
    if note := machine_note(about_qrels(qrels, report)):
        sys.stderr.write(f"note: {report.path}: {note}\n")
