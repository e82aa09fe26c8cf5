"""Labels: compute the final grade of each pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from judgments.labels import carried_labels as carrying
from judgments.labels.round_labels import Key, RatedRound, RoundLabels, behind, label, read_rounds
from judgments.machines.calibration import auto_accept, calibration
from judgments.models import Collection, ImportedLabel, Judge, LabelSource, Round
from judgments.models.snapshot import CARRIED, HUMAN, IMPORTED, MACHINE
from judgments.snapshots import merging
from judgments.snapshots.merging import Merged


def chosen_sources(collection: Collection, named: Sequence[str]) -> list[LabelSource]:
    """Return the chosen sources in rising precedence: clicks, then imports by age."""
    rows = collection.label_sources.order_by("created_at", "pk")
    if not named:
        return list(rows.filter(kind=LabelSource.Kind.IMPORT))
    sources = list(rows.filter(name__in=named))
    if missing := sorted(set(named) - {source.name for source in sources}):
        known = ", ".join(rows.values_list("name", flat=True)) or "none"
        raise NotValid(f"Unknown label source {missing[0]}.", {"named": f"Known label sources: {known}."})
    return sorted(sources, key=lambda source: source.kind != LabelSource.Kind.CLICKS)


def imported(chosen: Sequence[LabelSource], scale: Sequence[int]) -> dict[Key, int]:
    """Return the labels of the sources by query and document. Invalid labels are refused, never rounded or clipped."""
    newest: dict[Key, float] = {}
    for source in chosen:
        rows = ImportedLabel.objects.filter(source=source)
        for query_id, doc_id, value in rows.values_list("query__query_id", "document__doc_id", "value"):
            newest[query_id, doc_id] = value
    _refuse("fractions", [key for key, value in newest.items() if value != int(value)])
    off = [key for key, value in newest.items() if scale and int(value) not in scale]
    _refuse(f"outside the scale {scale[0]}-{scale[-1]}" if scale else "", off)
    return {key: int(value) for key, value in newest.items()}


def _refuse(what: str, pairs: Sequence[Key]) -> None:
    if pairs:
        query_id, doc_id = pairs[0]
        raise NotValid(
            f"{amount(len(pairs), 'imported label is', 'imported labels are')} {what}, the first for query "
            f"{query_id}, document {doc_id}. Import the labels again on the scale of the rounds. For labels from "
            "clicks, make grades on their page.",
            {"sources": "Remove `imported`."},
        )


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
            "A judge is given, but `sources` does not include `machine`.",
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
        raise NotValid(message, "judge")
    return row


SOURCES = ("human", "imported", "machine", "accepted")
# Machine sources only fill in for pairs without another label.
OF_MACHINES = frozenset({"machine", "accepted"})
# The treatment of pairs that were marked unrateable and have no grade.
EXCLUDED, ZERO = "excluded", "zero"
UNRATEABLE = (EXCLUDED, ZERO)
# Dawid-Skene learns the errors of each rater; with fewer grades per pair it has too little data.
ENOUGH_FOR_ERRORS = 5


@dataclass(frozen=True, order=True)
class Label:
    """The final grade of one pair."""

    query_id: str
    doc_id: str
    grade: int
    column: str = HUMAN


@dataclass(frozen=True)
class Consolidation:
    """How judgments become labels: rule, sources and merge rule. It is part of a snapshot's provenance."""

    rule: str = "median"
    sources: tuple[str, ...] = ("human",)
    merge: str = merging.NEWEST
    named: tuple[str, ...] = ()  # names of label sources; the provenance of the content uses their hashes instead
    unrateable: str = EXCLUDED
    judge: str = ""  # the judge behind ``machine``; its name contains the hash of everything that affects its grades

    def __post_init__(self) -> None:
        for name in ("sources", "named"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def as_json(self) -> dict[str, Any]:
        # The default is left out, so that hashes from before this setting stay valid.
        chosen = {} if self.unrateable == EXCLUDED else {"unrateable": self.unrateable}
        chosen |= {"judge": self.judge} if self.judge else {}
        return {"rule": self.rule, "sources": sorted(self.sources), "merge": self.merge, **chosen}


@dataclass(frozen=True)
class LabelSet:
    """The labels of one or more rounds, with counts of conflicts and unlabeled pairs."""

    labels: list[Label]
    ratings: int
    ties: int
    conflicts: int
    unresolved: int  # conflicts without a resolution, which the rule decided
    unrateable: int
    without_rating: int
    adjudicated: int
    by_grade: dict[int, int] = field(default_factory=dict)
    carried: list[carrying.Carried] = field(default_factory=list)  # labels that are not based on a judgment of the pair
    zeroed: int = 0  # labels of unrateable pairs that count as the lowest grade
    left_open: int = 0  # pairs with grades for which the rule gives no label
    merged: Merged = field(default_factory=Merged)
    few_for_errors: float | None = None  # grades per pair, if the rule needs more
    by_machine: int = 0  # labels given by a machine

    @property
    def documents(self) -> dict[str, set[str]]:
        """The documents with a label, by query."""
        doc_ids: dict[str, set[str]] = {}
        for one in self.labels:
            doc_ids.setdefault(one.query_id, set()).add(one.doc_id)
        return doc_ids


def compute_labels(collection: Collection, rounds: Sequence[Round], **choice: Any) -> LabelSet:
    """Return one label per pair, by the newest round; the choice are the fields of a `Consolidation`."""
    how = Consolidation(**choice)
    return compute(collection, read(collection, rounds, how), how)


def read(collection: Collection, rounds: Sequence[Round], consolidation: Consolidation) -> list[RatedRound]:
    """Check that the rounds fit together, and return them as `compute` needs them."""
    _check(collection, rounds, consolidation)
    return read_rounds(rounds) if "human" in consolidation.sources else []


def compute(collection: Collection, judged: Sequence[RatedRound], consolidation: Consolidation) -> LabelSet:
    """Compute the labels of rounds that were already read, oldest first."""
    each = [label(rated, consolidation.rule) for rated in judged]
    merged = merging.merge(each)
    scale = judged[0].round.scale.values() if judged else []
    labels = [Label(query_id, doc_id, grade) for (query_id, doc_id), grade in merged.labels.items()]
    own = [rated.round for rated in judged]
    carried = carrying.carried(own, merged.labels, rule=consolidation.rule, judgments=lambda: behind(judged))
    labels += [Label(one.query_id, one.doc_id, one.grade, CARRIED) for one in carried]
    known = {(one.query_id, one.doc_id) for one in labels}
    zeroed = set().union(*(rated.not_judged for rated in judged)) - known if consolidation.unrateable == ZERO else set()
    labels += [Label(query_id, doc_id, scale[0]) for query_id, doc_id in zeroed]
    known |= zeroed
    chosen = chosen_sources(collection, consolidation.named)
    if "imported" in consolidation.sources:
        labels += [Label(*key, grade, IMPORTED) for key, grade in imported(chosen, scale).items() if key not in known]
    elif consolidation.named:
        raise NotValid(
            "Label sources are listed, but `sources` does not include `imported`.",
            {"sources": "Add `imported`."},
        )
    labeled = {(one.query_id, one.doc_id) for one in labels}
    machines = machine_labels(collection, own, consolidation.sources, consolidation.judge)
    by_machine = [Label(*key, grade, MACHINE) for key, grade in machines.items() if key not in labeled]
    labels += by_machine
    labels.sort()
    by_grade = dict(sorted(Counter(one.grade for one in labels).items()))
    return LabelSet(
        labels,
        by_grade=by_grade,
        carried=carried,
        zeroed=len(zeroed),
        merged=merged,
        few_for_errors=_few_for_errors(judged, consolidation.rule),
        by_machine=len(by_machine),
        **_totals(each),
    )


def _few_for_errors(judged: Sequence[RatedRound], rule: str) -> float | None:
    """Return the mean number of grades per pair if the rule learns rater errors and has too few grades."""
    pairs = sum(len(rated.rated) for rated in judged)
    if rule != "dawid-skene" or not pairs:
        return None
    each = sum(len(rated.rows) for rated in judged) / pairs
    return each if each < ENOUGH_FOR_ERRORS else None


def _totals(each: Sequence[RoundLabels]) -> dict[str, int]:
    return {
        "ratings": sum(len(one.of.rows) for one in each),
        "ties": sum(one.ties for one in each),
        "conflicts": sum(len(one.conflicts) for one in each),
        "unresolved": sum(one.unresolved for one in each),
        "unrateable": sum(one.of.unrateable for one in each),
        "without_rating": sum(one.of.pairs - len(one.of.rated) for one in each),
        "adjudicated": sum(len(one.of.resolved) for one in each),
        "left_open": sum(one.left_open for one in each),
    }


def _check(collection: Collection, rounds: Sequence[Round], consolidation: Consolidation) -> None:
    unknown = sorted(set(consolidation.sources) - set(SOURCES))
    if unknown or not consolidation.sources:
        hint = f"Unknown source: {', '.join(unknown)}." if unknown else "Choose at least one source."
        raise NotValid(
            f"The sources of labels are not valid. Available sources: {', '.join(SOURCES)}.", {"sources": hint}
        )
    if OF_MACHINES & set(consolidation.sources) and "human" not in consolidation.sources:
        hint = "Add `human`."
        raise NotValid("Machine grades can only fill in for pairs that people did not grade.", {"sources": hint})
    if consolidation.unrateable not in UNRATEABLE:
        hint = f"Use one of {', '.join(UNRATEABLE)}."
        raise NotValid(f"Unknown value {consolidation.unrateable!r} for unrateable pairs.", {"unrateable": hint})
    if "human" in consolidation.sources and not rounds:
        raise NotValid("No round is selected.", {"rounds": "Choose at least one round."})
    if any(round_.collection_id != collection.pk for round_ in rounds):
        raise NotValid(
            "Some of these rounds belong to another collection.", {"rounds": "Choose rounds of one collection."}
        )
    if len({tuple(round_.scale.values()) for round_ in rounds}) > 1:
        raise NotValid(
            "The rounds use different scales, so their labels cannot be merged.",
            {"rounds": "Choose rounds with the same scale."},
        )
    merging.check(rounds, consolidation.merge)
