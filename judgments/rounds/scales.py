"""Grading scales: creation and presets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.core.errors import NotValid
from judgments.models import Collection, Grade, Scale
from judgments.models.round import DEFAULT_GRADES

Row = tuple[int, str, str]


@dataclass(frozen=True)
class Preset:
    """A predefined scale."""

    title: str
    grades: tuple[Row, ...]
    relevant_from: int = 1


PRESETS: dict[str, Preset] = {
    "graded-4": Preset("Four grades, 0-3", DEFAULT_GRADES),
    "binary": Preset(
        "Yes or no, 0-1",
        (
            (0, "Not relevant", "This does not help me."),
            (1, "Relevant", "This helps at least a little."),
        ),
    ),
    "graded-3": Preset(
        "Three grades, 0-2",
        (
            (0, "Not relevant", "This does not help me."),
            (1, "Partly relevant", "It helps somewhat, but I would keep looking."),
            (2, "Relevant", "I could stop looking here."),
        ),
    ),
    "graded-5": Preset(
        "Five grades, 0-4",
        (
            (0, "Poor", "It has nothing to do with what I want."),
            (1, "Fair", "I see the connection, but I would not open it."),
            (2, "Good", "Worth opening, though others are likely better."),
            (3, "Very good", "I would be glad to find this."),
            (4, "Perfect", "Exactly what I am looking for."),
        ),
        relevant_from=2,
    ),
}


def make_scale(collection: Collection, grades: Sequence[Row] | None, *, relevant_from: int | None = None) -> Scale:
    """Create a scale with these grades; the default four if None is given."""
    rows = sorted(grades or DEFAULT_GRADES)
    values = [value for value, _, _ in rows]
    if len(rows) < 2 or len(set(values)) != len(values):
        raise NotValid(
            "A scale needs at least two different grades.", {"scale": "Give each grade a different value from 0."}
        )
    if any(not 0 <= value <= 100 for value in values) or any(not label.strip() for _, label, _ in rows):
        raise NotValid("The scale is not valid.", {"scale": "Use whole numbers from 0 to 100, each with a label."})
    threshold = max(1, values[0] + 1) if relevant_from is None else relevant_from
    if not values[0] < threshold <= values[-1]:
        hint = f"Choose a grade from {values[0] + 1} to {values[-1]}, so that not all grades count as relevant."
        raise NotValid(f"The lowest relevant grade is not valid. {hint}", {"relevant_from": hint})
    scale = Scale.objects.create(collection=collection, relevant_from=threshold)
    Grade.objects.bulk_create(
        Grade(scale=scale, value=value, label=label.strip()[:40], cue=cue.strip()[:200]) for value, label, cue in rows
    )
    return scale
