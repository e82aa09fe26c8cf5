"""Gate check for a snapshot: whether each round passes, or a lead gives a reason to freeze anyway."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judgments import gate
from judgments.core.errors import Conflict
from judgments.gate import GateAnswer
from judgments.models import Round

SAID = {
    "failed": "agreement is below the gate of {at:.2f}",
    "undecided": "whether agreement reaches the gate of {at:.2f} cannot be told yet",
    "undefined": "agreement is not defined, so that the gate of {at:.2f} says nothing",
}


@dataclass(frozen=True)
class Held:
    """One round held against its gate."""

    round: Round
    answer: GateAnswer

    @property
    def state(self) -> str:
        return self.answer.state

    @property
    def failed(self) -> bool:
        return self.state == "failed"

    @property
    def warning(self) -> str:
        """What is to be said before freezing; empty for a round that passes."""
        said = SAID.get(self.state, "")
        return f"{self.round}: {said.format(at=self.answer.threshold)}" if said else ""

    def as_json(self) -> dict[str, Any]:
        """What the manifest keeps of it."""
        return self.answer.as_json()


def hold(rounds: Sequence[Round], sources: Sequence[str] = ("human",)) -> list[Held]:
    """Each round against its gate; none where no label comes from people here."""
    return [Held(round_, gate.answer(round_)) for round_ in rounds] if "human" in sources else []


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
