"""What do all signals together say, and what should be done first?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaluation.staleness import SIGNALS
from evaluation.staleness.actions import ACTIONS, Action
from evaluation.staleness.facts import Facts, RunHoles
from evaluation.staleness.signal import ORDER, UNKNOWN, Finding, Missing, worst


@dataclass(frozen=True)
class Report:
    """The findings in the order of the table, and the runs behind the first of them."""

    findings: tuple[Finding, ...]
    runs: tuple[RunHoles, ...]

    @property
    def state(self) -> str:
        """The gravest state; unknown where no signal could be read."""
        return worst([one.state for one in self.findings])

    @property
    def asking(self) -> list[Finding]:
        """Those that ask for their action, the gravest first."""
        return sorted((one for one in self.findings if one.asks), key=lambda one: -ORDER.index(one.state))

    @property
    def unknown(self) -> list[Finding]:
        """Those that could not be read."""
        return [one for one in self.findings if one.state == UNKNOWN]

    @property
    def actions(self) -> list[Action]:
        """What to do, the most urgent first, each once."""
        return [ACTIONS[name] for name in dict.fromkeys(one.signal.action for one in self.asking)]

    def __getitem__(self, name: str) -> Finding:
        return next(one for one in self.findings if one.signal.name == name)

    def as_json(self) -> dict[str, Any]:
        """Plain values under the names of the file and the API."""
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
