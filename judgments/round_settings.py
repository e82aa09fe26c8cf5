"""Round settings: which settings exist, which values are valid, and which can still change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from django.db import transaction

from judgments import audit
from judgments.core.errors import Conflict, NotValid
from judgments.models import Round, User

# Two ratings of one pair are what agreement is computed from; more than twenty nobody pays for.
MOST_RATINGS = 20
MOST_STEPS = 100

# What the pairs and slots were made by.
NEVER = ("ratings_per_pair", "overlap")
# Who rates already was not asked to pass.
UNTIL_OPEN = ("pass_mark", "pass_within")
# What labels are frozen by, not graded by: a lead may move it at any time, and every move is on record.
ALWAYS = ("gate_coefficient", "gate_threshold")

# Field: what holds, in the words of an error. A bound of None is open.
WHOLE: Mapping[str, tuple[int, int, str]] = {
    "ratings_per_pair": (1, MOST_RATINGS, f"A whole number from 1 to {MOST_RATINGS}."),
    "extra_at": (1, MOST_STEPS, "Steps between two grades, a whole number from 1; empty calls in nobody."),
    "extra_most": (1, MOST_RATINGS, f"How many more raters a pair may get: a whole number from 1 to {MOST_RATINGS}."),
    "gold_every": (2, 1_000, "One pair in so many, a whole number from 2 to 1000; empty mixes in none."),
    "pass_within": (0, MOST_STEPS, f"Steps off that still count as right: a whole number from 0 to {MOST_STEPS}."),
}
SHARES: Mapping[str, tuple[float, float, str]] = {
    "overlap": (0, 1, "A share of the pairs, from 0 to 1, for example 0.2."),
    "repeat_share": (0, 0.5, "A share of a rater's own pairs, from 0 to 0.5, for example 0.05."),
    "pass_mark": (0.01, 1, "The share that must be right, from 0.01 to 1, for example 0.8; empty asks for none."),
    "gate_threshold": (-1, 1, "A value of the coefficient, from -1 to 1, for example 0.6."),
}
OPTIONAL = ("extra_at", "gold_every", "pass_mark")
LONGEST_QUALIFICATION = 60


@dataclass(frozen=True)
class RoundSettings:
    """Everything about a round beside its pairs, scale, guidelines, raters and seed.

    Attributes
    ----------
    ratings_per_pair : int
        k: how many raters grade an overlapping pair.
    overlap : float
        The share of pairs, drawn with the seed, that get k ratings; the others get one.
    breadth_first : bool
        Every pair once before any a second time; else each query to its end.
    extra_at : int or None
        Two grades so many steps apart call in another rater; None calls in nobody.
    extra_most : int
        How many more raters a pair may get that way.
    walk_in : bool
        Whether raters of the collection who were not asked may come by.
    qualification : str
        What a rater must have been found fit for, in the words of the members page; "" asks for nothing.
    by_language : bool
        Whether a rater gets only queries in languages that they read.
    repeat_share : float
        The share of a rater's own pairs that is shown to them again.
    gold_every : int or None
        One pair of known grade among so many; None mixes in none.
    pass_mark : float or None
        The share of the calibration that must be right before the round begins for a rater; None asks for none.
    pass_within : int
        How many steps off still count as right there.
    gate_coefficient, gate_threshold : str, float
        What the round's agreement is held against.
    as_list : bool
        Whether documents are shown as a list at first.
    """

    ratings_per_pair: int = 2
    overlap: float = 1.0
    breadth_first: bool = False
    extra_at: int | None = None
    extra_most: int = 1
    walk_in: bool = False
    qualification: str = ""
    by_language: bool = False
    repeat_share: float = 0.0
    gold_every: int | None = None
    pass_mark: float | None = None
    pass_within: int = 0
    gate_coefficient: str = "alpha-ordinal"
    gate_threshold: float = 0.60
    as_list: bool = False

    @classmethod
    def of(cls, round_: Round) -> RoundSettings:
        """The settings of a round that is there."""
        return cls(**{name: getattr(round_, name) for name in NAMES})

    def as_dict(self) -> dict[str, Any]:
        """The values by the names of the round's columns."""
        return asdict(self)

    def check(self, grades: Sequence[int] = ()) -> None:
        """That every value holds, on a scale with these grades where it is known.

        Raises
        ------
        NotValid
            With every field that does not hold, and what is expected there.
        """
        wrong = {name: said for name, (low, high, said) in WHOLE.items() if not self._whole(name, low, high)}
        wrong |= {name: said for name, (low, high, said) in SHARES.items() if not self._between(name, low, high)}
        if len(self.qualification) > LONGEST_QUALIFICATION:
            wrong["qualification"] = f"One word or a few, {LONGEST_QUALIFICATION} characters at most."
        if (known := gate_coefficients()) and self.gate_coefficient not in known:
            wrong["gate_coefficient"] = f"One of {', '.join(known)}."
        if grades and not wrong:
            wrong |= self._off_the_scale(max(grades) - min(grades))
        if wrong:
            named = "; ".join(f"{name}: {said}" for name, said in wrong.items())
            raise NotValid(f"The round cannot be made so. {named}", wrong)

    def _whole(self, name: str, low: int, high: int) -> bool:
        value = getattr(self, name)
        if value is None:
            return name in OPTIONAL
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    def _between(self, name: str, low: float, high: float) -> bool:
        value = getattr(self, name)
        # NaN lies nowhere.
        return name in OPTIONAL if value is None else bool(low <= value <= high)

    def _off_the_scale(self, widest: int) -> dict[str, str]:
        """What could never happen on a scale whose ends lie so many steps apart."""
        if self.extra_at is not None and self.extra_at > widest:
            return {"extra_at": f"Two grades of this scale lie {widest} apart at most: {widest}, or leave it empty."}
        if self.pass_mark is not None and self.pass_within >= widest:
            return {"pass_within": f"Within {self.pass_within} every grade of this scale would be right."}
        return {}


NAMES: tuple[str, ...] = tuple(field.name for field in fields(RoundSettings))


def gate_coefficients() -> list[str]:
    """The coefficients that a gate can ask for."""
    # Agreement brings numpy; most who read a round's settings do without.
    from judgments.agreement import COEFFICIENTS

    return COEFFICIENTS.names()


@transaction.atomic
def change(round_: Round, changes: Mapping[str, Any], *, actor: User) -> Round:
    """Set some of a round's settings anew, as far as its state allows.

    A draft may change all but what its slots were made by. An open round may still change how pairs are handed out
    and what is mixed in, from the next batch on; what raters had to pass stays. Of a closed round the gate
    changes alone.

    Parameters
    ----------
    round_ : Round
        Whose settings.
    changes : mapping of str to value
        Names of :class:`RoundSettings` to new values.
    actor : User
        The lead who does it.

    Raises
    ------
    NotValid
        A value does not hold, or its setting is fixed by now.
    Conflict
        The round is closed, and its gate is not what is to change.
    """
    round_ = Round.objects.select_for_update().select_related("collection", "scale").get(pk=round_.pk)
    before = RoundSettings.of(round_)
    after = replace(before, **changes)
    changed = [name for name in NAMES if getattr(before, name) != getattr(after, name)]
    if not changed:
        return round_
    if round_.state == Round.State.CLOSED and set(changed) - set(ALWAYS):
        raise Conflict(f"Round {round_} is closed: its settings are on record, and only its gate can change.")
    _refuse_fixed(round_, changed)
    after.check(round_.scale.values())
    for name in changed:
        setattr(round_, name, getattr(after, name))
    round_.save(update_fields=changed)
    told = ", ".join(f"{name} to {getattr(after, name)}" for name in changed)
    detail = {name: [getattr(before, name), getattr(after, name)] for name in changed}
    sentence = f"{actor} set {told} in round {round_}"
    audit.record("round_settings.change", sentence, actor=actor, collection=round_.collection, target=round_, **detail)
    return round_


def fixed(round_: Round) -> tuple[str, ...]:
    """The settings that can no longer change."""
    if round_.state == Round.State.CLOSED:
        return tuple(name for name in NAMES if name not in ALWAYS)
    return NEVER if round_.state == Round.State.DRAFT else (*NEVER, *UNTIL_OPEN)


def _refuse_fixed(round_: Round, changed: Sequence[str]) -> None:
    wrong = {name: "This is fixed when a round is made: make a new round." for name in changed if name in NEVER}
    if round_.state == Round.State.OPEN:
        said = "This is fixed when a round is opened: make a new round."
        wrong |= {name: said for name in changed if name in UNTIL_OPEN}
    if wrong:
        raise NotValid(f"Round {round_} keeps its {', '.join(wrong)}: make a new round to change that.", wrong)
