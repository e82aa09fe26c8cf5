"""Rankings of each run for one query, with labels and rank changes of documents between runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass

from judgments.models import Document, Snapshot
from judgments.snapshots import snapshots
from pooling.models import Run
from pooling.runs import runs as stored_runs

DEPTH = 10
DEPTHS = (10, 20, 50)
DEEPEST = 100


@dataclass(frozen=True)
class Move:
    """The ranks of a document in a first and a second run; None if a run does not return it."""

    before: int | None
    after: int | None

    @property
    def kind(self) -> str:
        """Return ``new``, ``gone``, ``up``, ``down`` or ``same``, as seen from the second run."""
        if self.before is None or self.after is None:
            return "new" if self.before is None else "gone"
        return "same" if self.before == self.after else "up" if self.after < self.before else "down"

    @property
    def steps(self) -> int:
        return 0 if self.before is None or self.after is None else abs(self.before - self.after)


@dataclass(frozen=True)
class RankedDocument:
    """One rank of one run.

    ``grade`` is None for an unjudged document; ``elsewhere`` holds its ranks in the other runs.
    """

    rank: int
    doc_id: str
    title: str
    uuid: str
    grade: int | None
    elsewhere: tuple[tuple[str, int | None], ...] = ()
    hidden: bool = False
    move: Move | None = None

    @property
    def alone(self) -> bool:
        """Whether no other run returns the document in its first ranks."""
        return all(rank is None for _, rank in self.elsewhere)


@dataclass(frozen=True)
class Ranking:
    """The first ranks of one run for one query."""

    run: Run
    places: list[RankedDocument]
    returned: int

    @property
    def holes(self) -> int:
        return sum(place.grade is None and not place.hidden for place in self.places)

    @property
    def hidden(self) -> int:
        return sum(place.hidden for place in self.places)


@dataclass(frozen=True)
class Answers:
    """All runs' rankings for one query, and the relevant documents that no run ranks high."""

    rankings: list[Ranking]
    missed: list[RankedDocument]
    judged: int
    top: int  # the highest grade of the snapshot's scale

    @property
    def moved(self) -> dict[str, int]:
        """Count the documents of either list that are new, gone, up, down or unchanged; empty unless there are two
        runs."""
        moves = {place.doc_id: place.move for ranking in self.rankings for place in ranking.places if place.move}
        counts = Counter(move.kind for move in moves.values())
        return {kind: counts[kind] for kind in ("new", "gone", "up", "down", "same")} if moves else {}

    @property
    def hidden(self) -> int:
        """Number of documents in the lists whose grade is hidden from the reader."""
        return len({place.doc_id for ranking in self.rankings for place in ranking.places if place.hidden})


def requested_depth(text: str) -> int:
    """Read the number of ranks from the URL; invalid values are ignored."""
    wanted = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else DEPTH
    return min(max(wanted, 1), DEEPEST)


def answers(
    snapshot: Snapshot, runs: Sequence[Run], query_id: str, depth: int = DEPTH, *, hidden: Container[str] = ()
) -> Answers:
    """Return the runs' first documents for a query, with the snapshot's grades."""
    grades = snapshots.labels_of(snapshot).get(query_id, {})
    full = {run.pk: stored_runs.ranked(run).ranking(query_id) for run in runs}
    firsts = {pk: ranking[:depth] for pk, ranking in full.items()}
    shown = {doc_id for ranking in firsts.values() for doc_id in ranking}
    missed = [doc_id for doc_id, grade in grades.items() if grade > 0 and doc_id not in shown and doc_id not in hidden]
    rows = Document.objects.filter(collection=snapshot.collection, doc_id__in=shown | set(missed)).only(
        "doc_id", "title", "uuid"
    )
    known = {row.doc_id: row for row in rows}
    moves = _moves(*full.values()) if len(full) == 2 else {}

    def place(rank: int, doc_id: str, own: int | None = None) -> RankedDocument:
        document, grade = known.get(doc_id), grades.get(doc_id)
        others = tuple((run.name, _rank(firsts[run.pk], doc_id)) for run in runs if run.pk != own)
        title, uuid = (document.title or doc_id, str(document.uuid)) if document else (doc_id, "")
        known_grade = None if grade is None or doc_id in hidden else int(grade)
        return RankedDocument(rank, doc_id, title, uuid, known_grade, others, doc_id in hidden, moves.get(doc_id))

    rankings = [
        Ranking(run, [place(rank, doc_id, run.pk) for rank, doc_id in enumerate(firsts[run.pk], 1)], len(full[run.pk]))
        for run in runs
    ]
    ordered = sorted(missed, key=lambda doc_id: (-grades[doc_id], doc_id))
    judged = sum(doc_id not in hidden for doc_id in grades)
    return Answers(rankings, [place(0, doc_id) for doc_id in ordered], judged, top_grade(snapshot))


def top_grade(snapshot: Snapshot) -> int:
    """Return the highest grade of the snapshot's scale."""
    return int(max(snapshot.manifest.get("scale", {}).get("grades") or [3]))


def _moves(first: Sequence[str], second: Sequence[str]) -> dict[str, Move]:
    before = {doc_id: rank for rank, doc_id in enumerate(first, 1)}
    after = {doc_id: rank for rank, doc_id in enumerate(second, 1)}
    return {doc_id: Move(before.get(doc_id), after.get(doc_id)) for doc_id in {**before, **after}}


def _rank(ranking: Sequence[str], doc_id: str) -> int | None:
    return ranking.index(doc_id) + 1 if doc_id in ranking else None
