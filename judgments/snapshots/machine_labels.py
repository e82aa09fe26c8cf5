"""Machine grades that a snapshot may use for pairs without a human grade.

There are two ways, both only on a lead's request: every grade of one named judge, or the lowest grades that are
auto-accepted because people confirm them on the audit slice (`auto_accept`). Both are marked in the second column of
the qrels.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.errors import NotValid
from judgments.labels.round_labels import Key
from judgments.machines.calibration import auto_accept, calibration
from judgments.models import Collection, Judge, Round


def machine_labels(
    collection: Collection, rounds: Sequence[Round], sources: Sequence[str], judge: str
) -> dict[Key, int]:
    """Return the machine's grade of each pair of the rounds, from the newest round with a grade."""
    labels: dict[Key, int] = {}
    ordered = sorted(rounds, key=lambda row: (row.created_at, row.pk))
    if "accepted" in sources:
        for round_ in ordered:
            labels |= auto_accept.accepted_grades(round_)
    if "machine" in sources:
        row = _named(collection, judge)
        for round_ in ordered:
            labels |= {key: int(grade) for key, grade in calibration.grades_of(row, round_).items()}
    elif judge:
        raise NotValid(
            "A judge is named, but the label sources do not include `machine`.",
            {"sources": "Add `machine`."},
        )
    return labels


def _named(collection: Collection, name: str) -> Judge:
    if not name:
        raise NotValid("Machine labels need the name of a judge.", {"judge": "Choose a judge."})
    row = collection.judges.filter(name=name).first()
    if row is None:
        raise NotValid(f"Unknown judge {name}.", {"judge": "Choose a judge of this collection."})
    if not calibration.has_grades(row):
        message = (
            f"{name} measures how useful documents are to a system and gives no grades. Choose a judge that grades."
        )
        raise NotValid(message, {"judge": message})
    return row
