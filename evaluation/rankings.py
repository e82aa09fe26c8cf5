"""What does each run return for one query, and which of it did anybody judge?"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation import scoring
from judgments import access
from judgments.models import Collection, Document, Round, Snapshot
from pooling import runs as runs_of
from pooling.models import Run

DEPTH = 10


@dataclass(frozen=True)
class Place:
    """One rank of one run. ``grade`` is None for a hole; ``elsewhere`` the ranks that the other runs give it.

    ``hidden``: the reader may still have to grade the pair, and is not told its grade.
    """

    rank: int
    doc_id: str
    title: str
    uuid: str
    grade: int | None
    elsewhere: tuple[tuple[str, int | None], ...] = ()
    hidden: bool = False

    @property
    def alone(self) -> bool:
        """Whether no other run returns it among its first ranks."""
        return all(rank is None for _, rank in self.elsewhere)

    @property
    def against(self) -> str:
        """Where it stands here, seen from the one other run: ``2 higher``, ``same place``."""
        other = next((rank for _, rank in self.elsewhere if rank is not None), None)
        if other is None:
            return ""
        if other == self.rank:
            return "same place"
        return f"{abs(other - self.rank)} {'higher' if self.rank < other else 'lower'}"


@dataclass(frozen=True)
class Ranking:
    """The first ranks of one run for one query."""

    run: Run
    places: list[Place]
    returned: int

    @property
    def holes(self) -> int:
        return sum(place.grade is None and not place.hidden for place in self.places)


@dataclass(frozen=True)
class Answers:
    """All runs' answers to one query, and the relevant documents that none of them ranks first."""

    rankings: list[Ranking]
    missed: list[Place]
    judged: int
    top: int  # the highest grade of the snapshot's scale


def hidden_from(user: Any, collection: Collection, query_id: str) -> set[str]:
    """The documents of a query that the user may still have to grade in an open round."""
    rounds = Round.objects.open_to(user).filter(collection=collection)
    pairs = (access.hidden_pairs(user, round_).filter(query__query_id=query_id) for round_ in rounds)
    return {doc_id for found in pairs for doc_id in found.values_list("document__doc_id", flat=True)}


def answers(
    snapshot: Snapshot, runs: Sequence[Run], query_id: str, depth: int = DEPTH, *, hidden: Container[str] = ()
) -> Answers:
    """Put the runs' first documents for a query side by side, with the snapshot's grades.

    Parameters
    ----------
    snapshot : Snapshot
        Whose labels.
    runs : sequence of Run
        In the order in which they are to stand.
    query_id : str
        The collection's own id.
    depth : int
        How many ranks.
    hidden : container of str
        Documents whose grades are not shown, as `hidden_from` tells them.
    """
    grades = scoring.labels(snapshot).to_dict().get(query_id, {})
    full = {run.pk: runs_of.ranked(run).ranking(query_id) for run in runs}
    firsts = {pk: found[:depth] for pk, found in full.items()}
    shown = {doc_id for found in firsts.values() for doc_id in found}
    missed = [doc_id for doc_id, grade in grades.items() if grade > 0 and doc_id not in shown and doc_id not in hidden]
    rows = Document.objects.filter(collection=snapshot.collection, doc_id__in=shown | set(missed)).only(
        "doc_id", "title", "uuid"
    )
    known = {row.doc_id: row for row in rows}

    def place(rank: int, doc_id: str, own: int | None = None) -> Place:
        document, grade = known.get(doc_id), grades.get(doc_id)
        others = tuple((run.name, _rank(firsts[run.pk], doc_id)) for run in runs if run.pk != own)
        title, uuid = (document.title or doc_id, str(document.uuid)) if document else (doc_id, "")
        known_grade = None if grade is None or doc_id in hidden else int(grade)
        return Place(rank, doc_id, title, uuid, known_grade, others, doc_id in hidden)

    rankings = [
        Ranking(run, [place(rank, doc_id, run.pk) for rank, doc_id in enumerate(firsts[run.pk], 1)], len(full[run.pk]))
        for run in runs
    ]
    ordered = sorted(missed, key=lambda doc_id: (-grades[doc_id], doc_id))
    scale = snapshot.manifest.get("scale", {}).get("grades") or [3]
    return Answers(rankings, [place(0, doc_id) for doc_id in ordered], len(grades), int(max(scale)))


def _rank(found: Sequence[str], doc_id: str) -> int | None:
    return found.index(doc_id) + 1 if doc_id in found else None
