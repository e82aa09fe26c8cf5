"""Agreement gate of a round: whether it passes, recorded when the round closes and checked before a freeze."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.urls import reverse

from assay.coefficients.gate import GateAnswer
from assay.core.errors import Conflict
from judgments.agreement import agreement_summary
from judgments.events.events import Emitted, emit
from judgments.jobs import jobs
from judgments.models import Round

WARNINGS = {
    "failed": "agreement is below the gate of {at:.2f}",
    "undecided": "it is undecided whether agreement reaches the gate of {at:.2f}",
    "undefined": "agreement is undefined, so the gate of {at:.2f} cannot be checked",
}


@dataclass(frozen=True)
class GateResult:
    """The result of one round's gate."""

    round: Round
    answer: GateAnswer

    @property
    def failed(self) -> bool:
        return self.answer.state == "failed"

    @property
    def warning(self) -> str:
        """The warning to show before freezing; empty if the round passes."""
        text = WARNINGS.get(self.answer.state, "")
        return f"{self.round}: {text.format(at=self.answer.threshold)}" if text else ""


def evaluate_gates(rounds: Sequence[Round], sources: Sequence[str]) -> list[GateResult]:
    """Return the gate result of each round; empty if no label comes from raters."""
    return [GateResult(round_, agreement_summary.answer(round_)) for round_ in rounds] if "human" in sources else []


def check(held: Sequence[GateResult], override_reason: str) -> None:
    """Refuse to freeze rounds that fail their gate without a reason."""
    failed = [one for one in held if one.failed]
    if failed and not override_reason:
        problem = "; ".join(one.warning for one in failed)
        raise Conflict(
            f"{problem}. Clarify the edge cases in the guidelines, qualify the raters and judge the overlap again, or "
            "give a reason for freezing anyway.",
            {
                "override_reason": "A round fails its gate, so a reason is required. The reason is stored in the "
                "manifest."
            },
        )


KIND = "agreement-gate"
RESULTS = {
    "passed": "passed its agreement gate",
    "failed": "failed its agreement gate",
    "undecided": "closed before it was clear whether its agreement passes the gate",
    "undefined": "closed without enough ratings to compute its agreement",
}


def check_later(emitted: Emitted) -> None:
    """Queue the check of a round that closed, if its pairs have several ratings."""
    event = emitted.event
    if event.kind != "round.closed":
        return
    round_ = event.collection.rounds.filter(uuid=event.data["round"]).first()
    if round_ is not None and round_.ratings_per_pair > 1:
        title, parameters = f"Check the agreement gate of {round_}", {"round": str(round_.uuid)}
        jobs.start(KIND, title=title, parameters=parameters, collection=event.collection, actor=emitted.actor)


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Run the job of `check_later`."""
    rows = Round.objects.select_related("scale", "collection").filter(state=Round.State.CLOSED)
    round_ = rows.filter(uuid=work.job.parameters["round"]).first()
    if round_ is None:
        return {}
    answer = agreement_summary.answer(round_)
    with transaction.atomic():
        emit(
            "agreement.checked",
            round_.collection,
            text=f"Round {round_} {RESULTS[answer.state]}.",
            page=reverse("round_agreement", args=[round_.uuid]),
            data={
                "round": str(round_.uuid),
                "name": round_.name,
                "state": answer.state,
                "coefficient": round_.gate_coefficient,
                "threshold": answer.threshold,
                "value": answer.value,
            },
        )
        return work.keep({"found": answer.state})
