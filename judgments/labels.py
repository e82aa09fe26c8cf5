"""What is the one settled grade of each pair?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from judgments import carried as carrying
from judgments import reliability
from judgments.core.errors import NotValid
from judgments.models import Adjudication, Collection, ImportedLabel, Judgment, LabelSource, Round

# Column 2 of our qrels: where a label comes from. What is carried from another pair has a column of its own.
HUMAN, MACHINE, IMPORTED = "0", "1", "2"
SOURCES = ("human", "imported")
MERGES = ("newest", "same-guidelines")


@dataclass(frozen=True, order=True)
class Label:
    """One settled grade."""

    query_id: str
    doc_id: str
    grade: int
    column: str = HUMAN


@dataclass(frozen=True)
class Consolidation:
    """How many judgments became one label: part of a snapshot's provenance."""

    rule: str = "median"
    sources: tuple[str, ...] = ("human",)
    merge: str = "newest"
    named: tuple[str, ...] = ()  # of label sources; their hashes, not these names, are the content's provenance

    def as_json(self) -> dict[str, Any]:
        return {"rule": self.rule, "sources": sorted(self.sources), "merge": self.merge}


@dataclass(frozen=True)
class Settled:
    """The labels of one or more rounds, and what is open about them."""

    labels: list[Label]
    ratings: int
    ties: int
    conflicts: int
    unsettled: int  # conflicts without adjudication: the rule decided
    unrateable: int
    without_rating: int
    adjudicated: int
    by_grade: dict[int, int] = field(default_factory=dict)
    carried: list[carrying.Carried] = field(default_factory=list)  # among the labels, none of them a judgment


def settle_labels(
    collection: Collection,
    rounds: Sequence[Round],
    *,
    rule: str,
    merge: str,
    sources: Sequence[str],
    named: Sequence[str] = (),
) -> Settled:
    """One label for every pair: adjudicated, else by the rule; the newest round wins; imported only where asked.

    Parameters
    ----------
    collection : Collection
        Where the rounds and the label sources belong.
    rounds : sequence of Round
        At least one, unless only imported labels are asked for. All of one scale.
    rule : str
        A member of ``judgments.aggregation.RULES``.
    merge : str
        ``newest`` (the newest round wins per pair) or ``same-guidelines`` (the same, and refused where rounds were
        judged under different guidelines).
    sources : sequence of str
        ``human``, ``imported`` or both; a human label always wins, and one that is carried from a judged pair wins over
        an imported one: it stands under this round's guidelines.
    named : sequence of str
        Which label sources ``imported`` means, by name; all that were imported where empty. Labels from clicks are
        taken only if they are named, and where nothing else has a label for the pair.
    """
    _check(collection, rounds, merge, sources)
    human: dict[tuple[str, str], int] = {}
    totals = dict.fromkeys(("ratings", "ties", "conflicts", "unsettled", "unrateable", "without_rating"), 0)
    adjudicated = 0
    judged = sorted(rounds, key=lambda row: (row.created_at, row.pk)) if "human" in sources else []
    for round_ in judged:
        settled = _adjudicated(round_)
        labels, found = _of_round(round_, rule, settled)
        human.update(labels)
        human.update(settled)
        adjudicated += len(settled)
        for name, number in found.items():
            totals[name] += number
    labels = [Label(query_id, doc_id, grade) for (query_id, doc_id), grade in human.items()]
    carried = carrying.carried(judged, human, rule=rule, judgments=lambda: _behind(judged))
    labels += [Label(one.query_id, one.doc_id, one.grade, carrying.COLUMN) for one in carried]
    chosen = chosen_sources(collection, named)
    if "imported" in sources:
        scale = rounds[0].scale.values() if rounds else []
        known = {(label.query_id, label.doc_id) for label in labels}
        labels += [label for label in _imported(chosen, scale) if (label.query_id, label.doc_id) not in known]
    elif named:
        raise NotValid("Label sources are named, and labels do not come from them.", {"sources": "Choose imported."})
    labels.sort()
    by_grade: dict[int, int] = {}
    for label in labels:
        by_grade[label.grade] = by_grade.get(label.grade, 0) + 1
    by_grade = dict(sorted(by_grade.items()))
    return Settled(labels, adjudicated=adjudicated, by_grade=by_grade, carried=carried, **totals)


def _check(collection: Collection, rounds: Sequence[Round], merge: str, sources: Sequence[str]) -> None:
    unknown = sorted(set(sources) - set(SOURCES))
    if unknown or not sources:
        said = f"Unknown: {', '.join(unknown)}." if unknown else "Choose at least one."
        raise NotValid(f"Labels come from {' or '.join(SOURCES)}.", {"sources": said})
    if merge not in MERGES:
        raise NotValid(f"There is no merge rule {merge!r}.", {"merge": f"One of {', '.join(MERGES)}."})
    if "human" in sources and not rounds:
        raise NotValid("A snapshot needs a round.", {"rounds": "Choose at least one round."})
    if any(round_.collection_id != collection.pk for round_ in rounds):
        raise NotValid("These rounds are not of this collection.", {"rounds": "Choose rounds of one collection."})
    if len({tuple(round_.scale.values()) for round_ in rounds}) > 1:
        raise NotValid("Rounds on different scales have no common labels.", {"rounds": "Choose rounds of one scale."})
    if merge == "same-guidelines" and len({round_.guidelines.sha256 for round_ in rounds}) > 1:
        raise NotValid(
            "These rounds were judged under different guidelines, so their grades do not mean the same.",
            {"merge": "Choose rounds of one guidelines version, or let the newest round win and say so."},
        )


def _of_round(
    round_: Round, rule: str, settled: dict[tuple[str, str], int]
) -> tuple[dict[tuple[str, str], int], dict[str, int]]:
    from judgments.aggregation import aggregate
    from judgments.core.ratings import Ratings

    rows = reliability.rating_rows(round_)
    found = aggregate(Ratings.from_rows(rows), rule, tuple(round_.scale.values()))
    labels = {(row.query_id, row.doc_id): int(row.grade) for row in found.labels if row.grade is not None}
    rated = {(query_id, doc_id) for query_id, doc_id, _, _ in rows}
    current = Judgment.objects.current().of_round(round_)
    unrateable = current.filter(state=Judgment.State.UNRATEABLE).values("pair").distinct().count()
    conflicts = {(row.query_id, row.doc_id) for row in found.labels if row.spread}
    return labels, {
        "ratings": len(rows),
        "ties": sum(1 for row in found.labels if row.tie and (row.query_id, row.doc_id) not in settled),
        "conflicts": len(conflicts),
        "unsettled": len(conflicts - settled.keys()),
        "unrateable": unrateable,
        "without_rating": round_.pairs.count() - len(rated),
    }


def _adjudicated(round_: Round) -> dict[tuple[str, str], int]:
    rows = Adjudication.objects.filter(pair__round=round_, superseded_by__isnull=True)
    return {
        (query_id, doc_id): grade
        for query_id, doc_id, grade in rows.values_list("pair__query__query_id", "pair__document__doc_id", "grade")
    }


def _behind(rounds: Sequence[Round]) -> list[tuple[str, str, str, int]]:
    """The judgments that decided each pair: those of its newest round, or what a lead settled there."""
    found: dict[tuple[str, str], list[tuple[str, str, str, int]]] = {}
    for round_ in rounds:
        of_round: dict[tuple[str, str], list[tuple[str, str, str, int]]] = {}
        for row in reliability.rating_rows(round_):
            of_round.setdefault(row[:2], []).append(row)
        found.update(of_round)
        found.update({pair: [(*pair, "", grade)] for pair, grade in _adjudicated(round_).items()})
    return [row for rows in found.values() for row in rows]


def chosen_sources(collection: Collection, named: Sequence[str]) -> list[LabelSource]:
    """The sources that are meant, in the order in which a later one wins per pair: clicks, then imports by age.

    Raises
    ------
    NotValid
        One of the names is no source's.
    """
    rows = collection.label_sources.order_by("created_at", "pk")
    if not named:
        return list(rows.filter(kind=LabelSource.Kind.IMPORT))
    found = list(rows.filter(name__in=named))
    if missing := sorted(set(named) - {source.name for source in found}):
        known = ", ".join(rows.values_list("name", flat=True)) or "none"
        raise NotValid(f"There is no label source called {missing[0]}.", {"named": f"Known: {known}."})
    return sorted(found, key=lambda source: source.kind != LabelSource.Kind.CLICKS)


def _imported(chosen: Sequence[LabelSource], scale: Sequence[int]) -> list[Label]:
    """Imported labels. What cannot stand in these qrels is refused, never rounded or clipped.

    A fraction cannot stand in qrels; with rounds beside them, labels off the rounds' scale cannot either.
    """
    newest: dict[tuple[str, str], float] = {}
    for source in chosen:
        rows = ImportedLabel.objects.filter(source=source)
        for query_id, doc_id, value in rows.values_list("query__query_id", "document__doc_id", "value"):
            newest[query_id, doc_id] = value
    _refuse_imported("fractions", [key for key, value in newest.items() if value != int(value)])
    off = [key for key, value in newest.items() if scale and int(value) not in scale]
    _refuse_imported(f"off the scale {scale[0]}-{scale[-1]}" if scale else "", off)
    return [Label(query_id, doc_id, int(value), IMPORTED) for (query_id, doc_id), value in newest.items()]


def _refuse_imported(what: str, pairs: Sequence[tuple[str, str]]) -> None:
    if pairs:
        query_id, doc_id = pairs[0]
        raise NotValid(
            f"{len(pairs):,} imported labels are {what}, the first for query {query_id}, document {doc_id}. "
            "Import the labels again on the scale of the rounds; labels from clicks are made grades on their page.",
            {"sources": "Leave out imported."},
        )
