"""Check a closed round's agreement against its gate, and record the result as an event."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.urls import reverse

from judgments.agreement import agreement_summary
from judgments.events.events import Emitted, emit
from judgments.jobs import jobs
from judgments.models import Round

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
