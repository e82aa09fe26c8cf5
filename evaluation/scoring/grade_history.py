"""Grade history of each document of a query: ratings, resolutions, imports and snapshots."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from judgments.labels import round_labels
from judgments.models import Adjudication, Document, ImportedLabel, Judgment, MachineJudgment, Pair, Query, Snapshot
from judgments.snapshots import snapshots

# Labels of at most this many snapshots are read, newest first, because each needs a file.
MOST_SNAPSHOTS = 12
STATES = {
    Judgment.State.GRADED: "graded",
    Judgment.State.UNRATEABLE: "marked it unrateable",
    Judgment.State.LATER: "saved it for later",
    Judgment.State.UNDONE: "undid the judgment",
}


@dataclass(frozen=True)
class Event:
    """An event in the history of a document's grade."""

    at: datetime
    kind: str
    who: str
    what: str
    grade: float | None
    place: str = ""
    note: str = ""
    stands: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return the event as a dict."""
        return {**self.__dict__, "at": self.at.strftime("%Y-%m-%dT%H:%M:%SZ")}


@dataclass
class History:
    """The history of one document of the query; only its id if it is ``hidden`` from the reader."""

    doc_id: str
    title: str
    uuid: str
    label: int | None = None
    hidden: bool = False
    events: list[Event] = field(default_factory=list)

    def of(self, kind: str) -> list[Event]:
        """Return the current events of a kind that have a grade."""
        return [event for event in self.events if event.kind == kind and event.stands and event.grade is not None]

    @property
    def raters(self) -> list[Event]:
        return sorted(self.of("rater"), key=lambda event: event.who)

    @property
    def settled(self) -> Event | None:
        return next(iter(self.of("adjudication")), None)

    @property
    def machines(self) -> list[Event]:
        return self.of("machine")

    @property
    def imports(self) -> list[Event]:
        return self.of("import")

    @property
    def frozen(self) -> list[Event]:
        return self.of("snapshot")

    @property
    def spread(self) -> float:
        """Return the difference between the highest and lowest human grade, across rounds."""
        grades = [event.grade for event in self.raters if event.grade is not None]
        return max(grades) - min(grades) if grades else 0

    def as_json(self) -> dict[str, Any]:
        """Return the history as a dict."""
        events = [event.as_json() for event in self.events]
        return {"doc_id": self.doc_id, "label": self.label, "hidden": self.hidden, "history": events}


def grade_history(snapshot: Snapshot, query: Query, shown: Iterable[str], *, hidden: Container[str]) -> list[History]:
    """Return every document of a query that was judged, labeled or returned by a run, with its grade history."""
    labels = snapshots.labels_of(snapshot).get(query.query_id, {})
    events = _events(snapshot, query)
    wanted = {*labels, *events, *shown}
    rows = Document.objects.filter(collection=query.collection_id, doc_id__in=wanted).only("doc_id", "title", "uuid")
    known = {row.doc_id: row for row in rows}
    histories = []
    for doc_id in sorted(wanted, key=str.encode):
        row = known.get(doc_id)
        one = History(doc_id, (row.title or doc_id) if row else doc_id, str(row.uuid) if row else "")
        if doc_id in hidden:
            one.hidden = True
        else:
            one.label = int(labels[doc_id]) if doc_id in labels else None
            one.events = sorted(events.get(doc_id, []), key=lambda event: event.at)
        histories.append(one)
    return sorted(histories, key=lambda one: (one.label is None, -(one.label or 0)))


def snapshots_of(snapshot: Snapshot) -> Sequence[Snapshot]:
    """Return the newest snapshots of the collection, oldest first, including the current one."""
    snapshots = snapshot.collection.snapshots(manager="of_documents")
    newest = list(snapshots.order_by("-created_at", "-pk")[:MOST_SNAPSHOTS])
    return [*([snapshot] if snapshot not in newest else []), *reversed(newest)]


def _events(snapshot: Snapshot, query: Query) -> dict[str, list[Event]]:
    events: dict[str, list[Event]] = {}
    parts = (_given(query), _settled(query), _judged_as(query), _by_machines(query), _imported(query))
    for part in (*parts, _frozen(snapshot, query)):
        for doc_id, event in part:
            events.setdefault(doc_id, []).append(event)
    return events


def _given(query: Query) -> Iterable[tuple[str, Event]]:
    """Return every judgment of every rater, including superseded ones."""
    rows = Judgment.objects.filter(pair__query=query).select_related("pair__document", "pair__round", "superseded_by")
    names: dict[int, dict[int, str]] = {}
    for row in rows:
        round_ = row.pair.round
        who = names.setdefault(round_.pk, round_labels.pseudonyms(round_))
        standing = not hasattr(row, "superseded_by") and row.state != Judgment.State.UNDONE
        what = STATES[Judgment.State(row.state)] + (" (surplus)" if row.surplus else "")
        note = " · ".join(text for text in (row.reason, row.note) if text)
        event = Event(row.created_at, "rater", who.get(row.rater_id, ""), what, row.grade, round_.name, note, standing)
        yield row.pair.document.doc_id, event


def _settled(query: Query) -> Iterable[tuple[str, Event]]:
    rows = Adjudication.objects.filter(pair__query=query)
    for row in rows.select_related("pair__document", "pair__round", "superseded_by"):
        event = Event(
            row.created_at,
            "adjudication",
            "adjudicator",
            "settled" if row.grade is not None else "undone",
            row.grade,
            row.pair.round.name,
            row.reason,
            not hasattr(row, "superseded_by"),
        )
        yield row.pair.document.doc_id, event


def _judged_as(query: Query) -> Iterable[tuple[str, Event]]:
    """Return judgments that were copied from a duplicate of the document."""
    rows = Pair.objects.filter(query=query, origin__has_key="copies").select_related("document", "round")
    for row in rows:
        for copy in row.origin["copies"]:
            what = f"judged as its duplicate {row.document.doc_id}"
            yield copy["doc_id"], Event(row.round.created_at, "copy", row.document.doc_id, what, None, row.round.name)


def _by_machines(query: Query) -> Iterable[tuple[str, Event]]:
    rows = MachineJudgment.objects.filter(pair__query=query)
    # Skip the input texts, which can be megabytes of expected answers per row.
    for row in rows.select_related("judge", "pair__document", "pair__round").defer("judge__inputs", "raw"):
        what = "graded" if row.outcome == "graded" else row.outcome.replace("_", " ")
        if row.usefulness is not None:
            what = f"measured a usefulness of {row.usefulness:.2f}"
        event = Event(row.created_at, "machine", row.judge.name, what, row.grade, row.pair.round.name, row.rationale)
        yield row.pair.document.doc_id, event


def _imported(query: Query) -> Iterable[tuple[str, Event]]:
    rows = ImportedLabel.objects.filter(query=query).select_related("source", "document")
    for row in rows:
        what = row.source.get_kind_display()
        yield row.document.doc_id, Event(row.source.created_at, "import", row.source.name, what, row.value)


def _frozen(snapshot: Snapshot, query: Query) -> Iterable[tuple[str, Event]]:
    for one in snapshots_of(snapshot):
        for doc_id, grade in snapshots.labels_of(one).get(query.query_id, {}).items():
            whole = int(grade) if grade == int(grade) else grade
            yield doc_id, Event(one.created_at, "snapshot", one.name, f"frozen with the rule {one.rule}", whole)
