"""Labels: compute the one final grade of each pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from judgments import carried as carrying
from judgments import merging
from judgments.core.errors import NotValid
from judgments.imported_labels import chosen_sources, imported
from judgments.machine_labels import machine_labels
from judgments.merging import Merged
from judgments.models import Collection, Round
from judgments.models.snapshot import CARRIED, HUMAN, IMPORTED, MACHINE
from judgments.round_labels import Key, RatedRound, RoundLabels, behind, label, read_rounds

SOURCES = ("human", "imported", "machine", "accepted")
# These stand only where nobody else has a label, and never alone.
OF_MACHINES = frozenset({"machine", "accepted"})
# What becomes of a pair that somebody could not judge and nobody graded.
EXCLUDED, ZERO = "excluded", "zero"
UNRATEABLE = (EXCLUDED, ZERO)
# Dawid-Skene learns how each rater errs; with fewer grades a pair it has little to learn from.
ENOUGH_FOR_ERRORS = 5


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
    merge: str = merging.NEWEST
    named: tuple[str, ...] = ()  # of label sources; their hashes, not these names, are the content's provenance
    unrateable: str = EXCLUDED
    judge: str = ""  # whose grades ``machine`` means: a name, which holds the hash of all that decides them

    def as_json(self) -> dict[str, Any]:
        # Only where it was chosen: a hash from before there was a choice stays what it was.
        chosen = {} if self.unrateable == EXCLUDED else {"unrateable": self.unrateable}
        chosen |= {"judge": self.judge} if self.judge else {}
        return {"rule": self.rule, "sources": sorted(self.sources), "merge": self.merge, **chosen}


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
    zeroed: int = 0  # among the labels: nobody could judge these pairs, and they count as the lowest grade
    left_open: int = 0  # pairs with grades of which the rule makes no label
    merged: Merged = field(default_factory=Merged)
    few_for_errors: float | None = None  # grades a pair, where the rule wants more of them
    by_machine: int = 0  # among the labels: no person gave these


def settle_labels(
    collection: Collection,
    rounds: Sequence[Round],
    *,
    rule: str,
    merge: str,
    sources: Sequence[str],
    named: Sequence[str] = (),
    unrateable: str = EXCLUDED,
    judge: str = "",
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
        A member of ``merging.MERGES``: ``newest`` (the newest round wins per pair), ``same-guidelines`` (the same, and
        refused where rounds were judged under different guidelines) or ``bridged`` (the same, where enough was rated
        again under the newer guidelines; `merging.check_bridges` refuses the rest before anything is frozen).
    sources : sequence of str
        ``human``, ``imported`` or both; a human label always wins, and one that is carried from a judged pair wins over
        an imported one: it stands under this round's guidelines.
    named : sequence of str
        Which label sources ``imported`` means, by name; all that were imported where empty. Labels from clicks are
        taken only if they are named, and where nothing else has a label for the pair.
    unrateable : str
        A pair that somebody could not judge and nobody graded has no label (``excluded``) or the lowest grade of the
        scale (``zero``), unless a label is carried to it.
    judge : str
        Whose grades ``machine`` means. They, and ``accepted`` ones, fill in where nothing else has a label.
    """
    how = Consolidation(rule, tuple(sources), merge, tuple(named), unrateable, judge)
    return settle(collection, read(collection, rounds, how), how)


def read(collection: Collection, rounds: Sequence[Round], how: Consolidation) -> list[RatedRound]:
    """The rounds as they are to be settled, once it is sure that they go together: what `settle` takes."""
    _check(collection, rounds, how)
    return read_rounds(rounds) if "human" in how.sources else []


def settle(collection: Collection, judged: Sequence[RatedRound], how: Consolidation) -> Settled:
    """The same for rounds that were read already, the oldest first."""
    each = [label(rated, how.rule) for rated in judged]
    merged = merging.merge(each)
    scale = judged[0].round.scale.values() if judged else []
    labels = [Label(query_id, doc_id, grade) for (query_id, doc_id), grade in merged.labels.items()]
    own = [rated.round for rated in judged]
    carried = carrying.carried(own, merged.labels, rule=how.rule, judgments=lambda: behind(judged))
    labels += [Label(one.query_id, one.doc_id, one.grade, CARRIED) for one in carried]
    known = {(one.query_id, one.doc_id) for one in labels}
    zeroed = _not_judged(judged) - known if how.unrateable == ZERO else set()
    labels += [Label(query_id, doc_id, scale[0]) for query_id, doc_id in zeroed]
    known |= zeroed
    chosen = chosen_sources(collection, how.named)
    if "imported" in how.sources:
        labels += [Label(*key, grade, IMPORTED) for key, grade in imported(chosen, scale).items() if key not in known]
    elif how.named:
        raise NotValid("Label sources are named, and labels do not come from them.", {"sources": "Choose imported."})
    by_machine = _of_machines(collection, judged, how, {(one.query_id, one.doc_id) for one in labels})
    labels += by_machine
    labels.sort()
    by_grade = dict(sorted(Counter(one.grade for one in labels).items()))
    return Settled(
        labels,
        by_grade=by_grade,
        carried=carried,
        zeroed=len(zeroed),
        merged=merged,
        few_for_errors=_few_for_errors(judged, how.rule),
        by_machine=len(by_machine),
        **_totals(each),
    )


def _of_machines(
    collection: Collection, judged: Sequence[RatedRound], how: Consolidation, known: set[Key]
) -> list[Label]:
    """Labels of pairs that nobody else has one of; none unless they were asked for."""
    if not OF_MACHINES & set(how.sources) and not how.judge:
        return []
    found = machine_labels(collection, [rated.round for rated in judged], how.sources, how.judge)
    return [Label(*key, grade, MACHINE) for key, grade in found.items() if key not in known]


def _not_judged(judged: Sequence[RatedRound]) -> set[Key]:
    return set().union(*(rated.not_judged for rated in judged))


def _few_for_errors(judged: Sequence[RatedRound], rule: str) -> float | None:
    """Grades a pair, where the rule learns the errors of raters and has too few to learn from."""
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
        "unsettled": sum(one.unsettled for one in each),
        "unrateable": sum(one.of.unrateable for one in each),
        "without_rating": sum(one.of.pairs - len(one.of.rated) for one in each),
        "adjudicated": sum(len(one.of.settled) for one in each),
        "left_open": sum(one.left_open for one in each),
    }


def _check(collection: Collection, rounds: Sequence[Round], how: Consolidation) -> None:
    unknown = sorted(set(how.sources) - set(SOURCES))
    if unknown or not how.sources:
        said = f"Unknown: {', '.join(unknown)}." if unknown else "Choose at least one."
        raise NotValid(f"Labels come from {' or '.join(SOURCES)}.", {"sources": said})
    if OF_MACHINES & set(how.sources) and "human" not in how.sources:
        said = "Choose what people judged, too."
        raise NotValid("A machine's grades stand beside people's, never alone.", {"sources": said})
    if how.unrateable not in UNRATEABLE:
        said = f"One of {', '.join(UNRATEABLE)}."
        raise NotValid(f"A pair that could not be judged cannot be {how.unrateable!r}.", {"unrateable": said})
    if "human" in how.sources and not rounds:
        raise NotValid("A snapshot needs a round.", {"rounds": "Choose at least one round."})
    if any(round_.collection_id != collection.pk for round_ in rounds):
        raise NotValid("These rounds are not of this collection.", {"rounds": "Choose rounds of one collection."})
    if len({tuple(round_.scale.values()) for round_ in rounds}) > 1:
        raise NotValid("Rounds on different scales have no common labels.", {"rounds": "Choose rounds of one scale."})
    merging.check(rounds, how.merge)
