"""Does each round of a snapshot pass its gate, and may its labels be frozen?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judgments import reliability
from judgments.agreement.reading import reason_in_words, verdict
from judgments.core.errors import Conflict
from judgments.models import Round

# What a reader of a warning takes it for.
SAID = {
    "failed": "agreement is below the gate of {threshold:.2f}",
    "undecided": "whether agreement reaches the gate of {threshold:.2f} cannot be told yet",
    "undefined": "agreement is not defined, so the gate of {threshold:.2f} says nothing",
}


@dataclass(frozen=True)
class Held:
    """One round held against its gate."""

    round: Round
    state: str
    coefficient: str
    value: float | None
    low: float | None
    high: float | None
    threshold: float
    n: int
    reason: str = ""

    @property
    def failed(self) -> bool:
        return self.state == "failed"

    @property
    def warning(self) -> str:
        """What is to be said before freezing; empty for a round that passes."""
        said = SAID.get(self.state, "")
        return f"{self.round}: {said.format(threshold=self.threshold)}" if said else ""

    def as_json(self) -> dict[str, Any]:
        """What the manifest keeps of it."""
        return {
            "state": self.state,
            "coefficient": self.coefficient,
            "threshold": self.threshold,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": self.n,
        }


def hold(rounds: Sequence[Round], sources: Sequence[str] = ("human",)) -> list[Held]:
    """Each round against its gate; none where no label comes from people here."""
    return [_held(round_) for round_ in rounds] if "human" in sources else []


def check(held: Sequence[Held], override_reason: str) -> None:
    """That no round fails, or that a lead says why it is frozen nevertheless.

    Raises
    ------
    Conflict
        A round's whole interval lies below its gate, and no reason is given; it names the field for one.
    """
    failed = [one for one in held if one.failed]
    if failed and not override_reason:
        said = "; ".join(one.warning for one in failed)
        raise Conflict(
            f"{said}. Rewrite the edge cases of the guidelines, calibrate, and judge the overlap again; or say why it "
            "is frozen nevertheless.",
            {"override_reason": "Needed, since a round fails its gate. It stands in the manifest."},
        )


def _held(round_: Round) -> Held:
    report = reliability.agreement(round_)
    found = report["alpha"]["ordinal"]
    little = any(told["code"] == "not_enough_overlap" for told in report["warnings"])
    low, high, threshold = found["low"], found["high"], round_.gate_threshold
    return Held(
        round_,
        "undecided" if little and found["value"] is not None else verdict(low, high, threshold),
        round_.gate_coefficient,
        found["value"],
        low,
        high,
        threshold,
        found["n"],
        reason_in_words(found["reason"]),
    )
