"""How is a scale of named grades made?"""

from __future__ import annotations

from collections.abc import Sequence

from judgments.core.errors import NotValid
from judgments.models import Collection, Grade, Scale
from judgments.models.scale import DEFAULT_GRADES


def make_scale(collection: Collection, grades: Sequence[tuple[int, str, str]] | None) -> Scale:
    """Make a scale with these grades; the usual four when None is given.

    Parameters
    ----------
    collection : Collection
        Where it belongs.
    grades : sequence of (value, label, cue) or None
        Two or more, with different values from 0 to 100.

    Raises
    ------
    NotValid
        Too few grades, a value twice or out of bounds, or a grade without a label.
    """
    rows = sorted(grades or DEFAULT_GRADES)
    values = [value for value, _, _ in rows]
    if len(rows) < 2 or len(set(values)) != len(values):
        raise NotValid(
            "A scale needs two or more different grades.", {"scale": "Give each grade a value of its own, from 0."}
        )
    if any(not 0 <= value <= 100 for value in values) or any(not label.strip() for _, label, _ in rows):
        raise NotValid(
            "This scale cannot be used.", {"scale": "Values are whole numbers from 0 to 100, each with a label."}
        )
    scale = Scale.objects.create(collection=collection)
    Grade.objects.bulk_create(
        Grade(scale=scale, value=value, label=label.strip()[:40], cue=cue.strip()[:200]) for value, label, cue in rows
    )
    return scale
