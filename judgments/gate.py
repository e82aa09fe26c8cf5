"""Agreement gate of a round: whether agreement is high enough to freeze, and changes to the threshold."""

from __future__ import annotations

from typing import Any

from judgments import round_reports, round_settings
from judgments.agreement.gate import GateAnswer, decide
from judgments.models import Round, User

__all__ = ["GateAnswer", "answer", "of_report", "set_gate"]


def answer(round_: Round) -> GateAnswer:
    """Hold the round's agreement, as it is now, against its gate.

    Returns
    -------
    GateAnswer
        Passed, undecided, failed or undefined; with what decided it, and what would where nothing did.
    """
    return of_report(round_, round_reports.exact(round_)["agreement"])


def of_report(round_: Round, agreement: dict[str, Any]) -> GateAnswer:
    """The same of a report that is there: for pages, which do not wait for a newer one."""
    over = round_.state == Round.State.CLOSED
    return decide(agreement, round_.gate_coefficient, round_.gate_threshold, over=over)


def set_gate(round_: Round, *, coefficient: str, threshold: float, actor: User) -> Round:
    """Hold the round against another coefficient or threshold from now on; who moved it, from where, is on record.

    Raises
    ------
    NotValid
        There is no such coefficient, or the threshold is not from -1 to 1; with the field.
    """
    changes = {"gate_coefficient": coefficient, "gate_threshold": threshold}
    return round_settings.change(round_, changes, actor=actor)
