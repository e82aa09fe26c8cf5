"""Output of ``assay freshness`` as a terminal table and as JSON: signals, limits, runs and next steps."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.cli.output.text_table import counted, text_table
from assay.staleness.actions import ACTIONS
from assay.staleness.signal import DAYS, INDEX, SHARE

if TYPE_CHECKING:
    from assay.staleness.report import Report
    from assay.staleness.signal import Finding

WORDS = {"fresh": "fresh", "warn": "warns", "stale": "STALE", "unknown": "unknown"}


def as_table(report: Report) -> str:
    """Return the signals, the runs and the next steps as tables."""
    rows = [
        [one.signal.name, WORDS[one.state], number(one.now, one), number(one.then, one), limits(one)]
        for one in report.findings
    ]
    parts = [text_table(("signal", "state", "now", "baseline", "limits"), rows, left=2)]
    parts.append("".join(f"{one.signal.name}: {one.words or f'unknown; {one.reason}'}\n" for one in report.findings))
    if report.runs:
        held = [
            [run.name, share(run.mean), share(run.p90), f"{run.holes:,}", f"{run.returned:,}", f"{run.queries:,}"]
            for run in report.runs
        ]
        parts.append(text_table(("run", "unjudged share", "p90", "unjudged", "returned", "queries"), held))
    parts.append(_next_steps(report))
    return "\n".join(parts)


def number(value: float | None, one: Finding) -> str:
    """Return a number in its unit; a dash if there is none."""
    if value is None:
        return "-"
    unit = one.signal.unit
    return (
        share(value)
        if unit == SHARE
        else f"{value:.0f} d"
        if unit == DAYS
        else f"{value:.3f}"
        if unit == INDEX
        else f"{value:.0f}"
    )


def share(value: float | None) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> share(0.25), share(None)
    ('25.0%', '-')
    """
    return "-" if value is None else f"{value:.1%}"


def limits(one: Finding) -> str:
    """Return the limits above which a signal warns or is stale."""
    thresholds = (("warns >", one.signal.warn), ("stale >", one.signal.stale))
    return ", ".join(f"{word} {number(limit, one)}" for word, limit in thresholds if limit is not None)


def _next_steps(report: Report) -> str:
    if not report.actions:
        left = len(report.unknown)
        unknown = f"; {counted(left, 'signal is', 'signals are')} unknown" if left else ""
        return f"no action is needed{unknown}\n"
    lines = [f"the labels are {'stale' if report.state == 'stale' else 'aging'}; next steps:"]
    for name in dict.fromkeys(action.name for action in report.actions):
        why = ", ".join(one.signal.name for one in report.asking if one.signal.action == name)
        lines.append(f"  {ACTIONS[name].title} ({why}). {ACTIONS[name].words}")
    return "\n".join(lines) + "\n"


def as_json(report: Report) -> str:
    """Return the report as JSON; unknown numbers are null with a reason."""
    return json.dumps(report.as_json(), ensure_ascii=False, indent=1) + "\n"


FORMATS: dict[str, Callable[[Report], str]] = {"table": as_table, "json": as_json}
