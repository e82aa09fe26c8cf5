"""Output of ``assay freshness`` as a terminal table and as JSON: signals, limits, runs and next steps."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.cli.text_table import counted, text_table
from evaluation.staleness.actions import ACTIONS
from evaluation.staleness.signal import DAYS, INDEX, SHARE

if TYPE_CHECKING:
    from evaluation.staleness.report import Report
    from evaluation.staleness.signal import Finding

WORDS = {"fresh": "fresh", "warn": "warns", "stale": "STALE", "unknown": "not known"}


def as_table(report: Report) -> str:
    """Every signal, then the runs, then what to do."""
    rows = [
        [one.signal.name, WORDS[one.state], number(one.now, one), number(one.then, one), limits(one)]
        for one in report.findings
    ]
    parts = [text_table(("signal", "state", "now", "baseline", "limits"), rows, left=2)]
    parts.append("".join(f"{one.signal.name}: {one.words or f'not known; {one.reason}'}\n" for one in report.findings))
    if report.runs:
        held = [
            [run.name, share(run.mean), share(run.p90), f"{run.holes:,}", f"{run.returned:,}", f"{run.queries:,}"]
            for run in report.runs
        ]
        parts.append(text_table(("run", "unjudged", "p90", "holes", "returned", "queries"), held))
    parts.append(_what_to_do(report))
    return "\n".join(parts)


def number(value: float | None, one: Finding) -> str:
    """A number in its unit; a dash where there is none."""
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
    """A share in per cent.

    Examples
    --------
    >>> share(0.25), share(None)
    ('25.0%', '-')
    """
    return "-" if value is None else f"{value:.1%}"


def limits(one: Finding) -> str:
    """Above which numbers it warns and is stale."""
    told = (("warns >", one.signal.warn), ("stale >", one.signal.stale))
    return ", ".join(f"{word} {number(limit, one)}" for word, limit in told if limit is not None)


def _what_to_do(report: Report) -> str:
    if not report.actions:
        left = len(report.unknown)
        unknown = f"; {counted(left, 'signal is', 'signals are')} not known" if left else ""
        return f"nothing asks for anything{unknown}\n"
    lines = [f"the labels are {'stale' if report.state == 'stale' else 'ageing'}; what to do:"]
    for name in dict.fromkeys(action.name for action in report.actions):
        why = ", ".join(one.signal.name for one in report.asking if one.signal.action == name)
        lines.append(f"  {ACTIONS[name].title} ({why}). {ACTIONS[name].words}")
    return "\n".join(lines) + "\n"


def as_json(report: Report) -> str:
    """Plain names, numbers unrounded, null with a reason where not known."""
    return json.dumps(report.as_json(), ensure_ascii=False, indent=1) + "\n"


FORMATS: dict[str, Callable[[Report], str]] = {"table": as_table, "json": as_json}
