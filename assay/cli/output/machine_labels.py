"""Notes that mark the labels of a machine in every output that uses them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.core.read_report import Report


def about_qrels(qrels: Qrels, report: Report) -> dict[str, Any]:
    """Return path and hash of a file of labels, its judge if a machine gave them, and the number of labels."""
    machine = {} if qrels.machine is None else {"machine": qrels.machine.to_dict()}
    size = {"queries": qrels.queries, "judgments": len(qrels)}
    return {"path": report.path, "sha256": report.sha256} | machine | size


def machine_note(qrels: Mapping[str, Any]) -> str:
    """Return the note that marks labels of a machine; empty for other labels.

    Examples
    --------
    >>> machine_note({"path": "qrels.txt"})
    ''
    >>> print(machine_note({"machine": {"judge": "graded a-model", "outcomes": {"graded": 8}}}))
    the labels are a machine's (graded a-model), not people's
    """
    machine = qrels.get("machine")
    if machine is None:
        return ""
    failed = {name: number for name, number in machine["outcomes"].items() if name != "graded"}
    note = f"the labels are a machine's ({machine['judge']}), not people's"
    if not failed:
        return note
    from assay.core.counted_nouns import amount

    number = sum(failed.values())
    outcomes = ", ".join(f"{count:,} {name}" for name, count in failed.items())
    verbs = "is no grade and counts" if number == 1 else "are no grades and count"
    return f"{note}; {amount(number, 'answer')} {verbs} as unjudged: {outcomes}"


def print_machine_note(qrels: Qrels, report: Report) -> None:
    """Print on standard error that the labels are a machine's, for outputs without a place for it."""
    if note := machine_note(about_qrels(qrels, report)):
        sys.stderr.write(f"note: {report.path}: {note}\n")
