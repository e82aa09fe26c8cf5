"""Report on all signals, and the most urgent action."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.staleness import SIGNALS
from assay.staleness.actions import ACTIONS, Action
from assay.staleness.signal import FRESH, ORDER, UNKNOWN, Facts, Finding, Missing, RunHoles, worst
from assay.staleness.unjudged_documents import never_judged


@dataclass(frozen=True)
class Report:
    """The findings in the order of the table, and the runs behind the first finding."""

    findings: tuple[Finding, ...]
    runs: tuple[RunHoles, ...]

    @property
    def state(self) -> str:
        """Return the worst known state. Labels are not fresh while the unjudged share is unknown."""
        gravest = worst([one.state for one in self.findings])
        return self["unjudged"].state if gravest == FRESH else gravest

    @property
    def asking(self) -> list[Finding]:
        """Return the findings that require action, most serious first."""
        return sorted((one for one in self.findings if one.asks), key=lambda one: -ORDER.index(one.state))

    @property
    def unknown(self) -> list[Finding]:
        """Return the findings that are unknown."""
        return [one for one in self.findings if one.state == UNKNOWN]

    @property
    def actions(self) -> list[Action]:
        """Return the distinct actions, most urgent first."""
        return [ACTIONS[name] for name in dict.fromkeys(one.signal.action for one in self.asking)]

    @property
    def incomplete(self) -> bool:
        """Return whether only documents that were already unjudged when the labels were frozen require action, so that
        no label has become stale."""
        unjudged = self["unjudged"]
        over = [one for one in unjudged.detail if (one["now"] or 0.0) > (unjudged.signal.warn or 0.0)]
        return self.asking == [unjudged] and all(never_judged(one["now"], one["baseline"]) for one in over)

    def __getitem__(self, name: str) -> Finding:
        return next(one for one in self.findings if one.signal.name == name)

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values under their API names."""
        return {
            "state": self.state,
            "signals": [one.as_json() for one in self.findings],
            "runs": [run.as_json() for run in self.runs],
        }


def look(facts: Facts) -> Report:
    """Read every signal from the facts."""
    findings = tuple(SIGNALS[name].find(facts) for name in SIGNALS)
    runs = () if isinstance(facts.now.runs, Missing) else tuple(facts.now.runs)
    return Report(findings, runs)


def report_from_json(data: Mapping[str, Any], reason: str) -> Report:
    """Return the report from the result of `Report.as_json`; a missing signal is unknown for the given reason."""
    known = {one["signal"]: Finding.from_json(one) for one in data.get("signals", ()) if one["signal"] in SIGNALS}
    findings = (known.get(name) or Finding(SIGNALS[name], UNKNOWN, None, None, "", reason) for name in SIGNALS)
    return Report(tuple(findings), tuple(RunHoles.from_json(run) for run in data.get("runs", ())))
