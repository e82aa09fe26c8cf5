"""The mark of labels that a machine gave, in every output that uses them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgments.core.report import Report


def about_qrels(report: Report) -> dict[str, Any]:
    """Return path and hash of a file of labels; for labels of a machine also whose they are."""
    from assay.cli.machine_labels import MachineReport

    about: dict[str, Any] = {"path": report.path, "sha256": report.sha256}
    if isinstance(report, MachineReport):
        about["machine"] = {"judge": report.judge, "outcomes": dict(report.outcomes)}
    return about


def machine_note(qrels: Mapping[str, Any]) -> str:
    """Return the line that marks labels of a machine in an output; empty for other labels.

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
    from judgments.core.amounts import amount

    number = sum(failed.values())
    outcomes = ", ".join(f"{count:,} {name}" for name, count in failed.items())
    verbs = "is no grade and counts" if number == 1 else "are no grades and count"
    return f"{note}; {amount(number, 'answer')} {verbs} as unjudged: {outcomes}"


def tell_machine(report: Report) -> None:
    """Say on standard error that labels are a machine's, for outputs that have no place for it."""
    if note := machine_note(about_qrels(report)):
        sys.stderr.write(f"note: {report.path}: {note}\n")
