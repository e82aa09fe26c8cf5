"""Agreement gate of a round: the check whether agreement is high enough to freeze, and changes to the threshold."""

from __future__ import annotations

from typing import Any

from assay.coefficients.gate import GateAnswer, decide
from judgments.agreement import round_report
from judgments.models import Round, User
from judgments.rounds import settings

__all__ = ["GateAnswer", "answer", "of_report", "set_gate"]


def answer(round_: Round) -> GateAnswer:
    """Check the round's current agreement against its gate."""
    return of_report(round_, round_report.exact(round_)["agreement"])


def of_report(round_: Round, agreement: dict[str, Any]) -> GateAnswer:
    """Check a stored report against the round's gate, for pages that cannot wait for a newer report."""
    over = round_.state == Round.State.CLOSED
    return decide(agreement, round_.gate_coefficient, round_.gate_threshold, over=over)


def set_gate(round_: Round, *, coefficient: str, threshold: float, actor: User) -> Round:
    """Change the coefficient or threshold of the round's gate; the audit trail records the old and new values."""
    changes = {"gate_coefficient": coefficient, "gate_threshold": threshold}
    return settings.change(round_, changes, actor=actor)
