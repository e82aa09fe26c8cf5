"""Machine grades that a snapshot may use where no person gave a grade.

There are two ways, both only on a lead's request: every grade of one named judge, or the lowest grades that are
auto-accepted because people confirm them on the audit slice (`auto_accept`). Either is marked in the second column of
the qrels.
"""

from __future__ import annotations

from collections.abc import Sequence

from judgments import auto_accept, judged
from judgments.core.errors import NotValid
from judgments.models import Collection, Judge, Round
from judgments.round_labels import Key


def machine_labels(
    collection: Collection, rounds: Sequence[Round], sources: Sequence[str], judge: str
) -> dict[Key, int]:
    """The machine's grade of each pair of the rounds; the newest round's where several have one.

    Parameters
    ----------
    collection : Collection
        Where the judge belongs.
    rounds : sequence of Round
        Whose pairs.
    sources : sequence of str
        ``machine``: the grades of `judge`; ``accepted``: what stands in each round. Both: the judge's where it has one.
    judge : str
        The judge's name, where ``machine`` is asked for.

    Raises
    ------
    NotValid
        No judge is named, or there is none of this name.
    """
    found: dict[Key, int] = {}
    ordered = sorted(rounds, key=lambda row: (row.created_at, row.pk))
    if "accepted" in sources:
        for round_ in ordered:
            found |= auto_accept.accepted(round_)
    if "machine" in sources:
        row = _named(collection, judge)
        for round_ in ordered:
            found |= {key: int(grade) for key, grade in judged.grades_of(row, round_).items()}
    elif judge:
        raise NotValid("A judge is named, and labels do not come from it.", {"sources": "Choose machine."})
    return found


def _named(collection: Collection, name: str) -> Judge:
    if not name:
        raise NotValid("Labels of a machine need its name.", {"judge": "Choose the judge."})
    row = collection.judges.filter(name=name).first()
    if row is None:
        raise NotValid(f"There is no judge called {name}.", {"judge": "Choose one of the collection's judges."})
    if not judged.has_grades(row):
        said = f"{name} tells how useful documents are to a system, and no grade. Choose a judge that grades."
        raise NotValid(said, {"judge": said})
    return row
