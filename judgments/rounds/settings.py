"""Round settings: their fields, valid values, and the states in which they can change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from django.db import transaction

from assay.core.errors import Conflict, NotValid
from judgments.models import Round, User, audit

# More ratings per pair would be a mistake.
MOST_RATINGS = 20
MOST_STEPS = 100

# Settings that the existing pairs and slots depend on.
NEVER = ("ratings_per_pair", "overlap")
# Settings that would treat current raters differently from later ones.
UNTIL_OPEN = ("pass_mark", "pass_within")
# Settings that do not affect rating. Every change is in the audit trail.
ALWAYS = ("gate_coefficient", "gate_threshold")

# Field: lowest value, highest value and error message.
WHOLE: Mapping[str, tuple[int, int, str]] = {
    "ratings_per_pair": (1, MOST_RATINGS, f"Enter a whole number from 1 to {MOST_RATINGS}."),
    "extra_at": (
        1,
        MOST_STEPS,
        "Enter the difference between grades, a whole number of at least 1. Leave the field empty to add no raters.",
    ),
    "extra_most": (
        1,
        MOST_RATINGS,
        f"Enter the maximum number of extra raters per pair, a whole number from 1 to {MOST_RATINGS}.",
    ),
    "gold_every": (
        2,
        1_000,
        "Enter a whole number from 2 to 1000: the number of pairs per gold pair. Leave the field empty for no gold "
        "pairs.",
    ),
    "pass_within": (
        0,
        MOST_STEPS,
        f"Enter the maximum difference that counts as correct, a whole number from 0 to {MOST_STEPS}.",
    ),
}
SHARES: Mapping[str, tuple[float, float, str]] = {
    "overlap": (0, 1, "Enter a share of the pairs from 0 to 1, for example 0.2."),
    "repeat_share": (0, 0.5, "Enter a share of a rater's own pairs from 0 to 0.5, for example 0.05."),
    "pass_mark": (
        0.01,
        1,
        "Enter the required share correct from 0.01 to 1, for example 0.8. Leave the field empty for no qualification.",
    ),
    "gate_threshold": (-1, 1, "Enter a value of the coefficient from -1 to 1, for example 0.6."),
}
OPTIONAL = ("extra_at", "gold_every", "pass_mark")
LONGEST_QUALIFICATION = 60


@dataclass(frozen=True)
class RoundSettings:
    """The settings of a round, without its pairs, scale, guidelines, raters and seed."""

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
        """Return the settings of an existing round."""
        return cls(**{name: getattr(round_, name) for name in NAMES})

    def as_dict(self) -> dict[str, Any]:
        """Return the values by the column names of the round."""
        return asdict(self)

    def check(self, grades: Sequence[int] = ()) -> None:
        """Refuse values that are invalid or do not fit a scale with these grades."""
        wrong = {name: hint for name, (low, high, hint) in WHOLE.items() if not self._whole(name, low, high)}
        wrong |= {name: hint for name, (low, high, hint) in SHARES.items() if not self._between(name, low, high)}
        if len(self.qualification) > LONGEST_QUALIFICATION:
            wrong["qualification"] = f"Use at most {LONGEST_QUALIFICATION} characters."
        if (known := gate_coefficients()) and self.gate_coefficient not in known:
            wrong["gate_coefficient"] = f"Choose one of {', '.join(known)}."
        if grades and not wrong:
            wrong |= self._off_the_scale(max(grades) - min(grades))
        if wrong:
            named = "; ".join(f"{name}: {hint}" for name, hint in wrong.items())
            raise NotValid(f"The settings of the round are not valid. {named}", wrong)

    def _whole(self, name: str, low: int, high: int) -> bool:
        value = getattr(self, name)
        if value is None:
            return name in OPTIONAL
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    def _between(self, name: str, low: float, high: float) -> bool:
        value = getattr(self, name)
        # NaN fails both comparisons.
        return name in OPTIONAL if value is None else bool(low <= value <= high)

    def _off_the_scale(self, widest: int) -> dict[str, str]:
        """Return errors for settings that can never apply on a scale of this width."""
        if self.extra_at is not None and self.extra_at > widest:
            return {
                "extra_at": f"Grades of this scale differ by at most {widest}. Enter a smaller number, or leave the "
                "field empty."
            }
        if self.pass_mark is not None and self.pass_within >= widest:
            return {
                "pass_within": f"With a difference of {self.pass_within}, every grade would be "
                f"correct. Enter less than {widest}."
            }
        return {}


NAMES: tuple[str, ...] = tuple(field.name for field in fields(RoundSettings))


def gate_coefficients() -> list[str]:
    """Return the coefficients that a gate can use."""
    # Imported here because agreement imports numpy, which most requests do not need.
    from assay.coefficients import COEFFICIENTS

    return COEFFICIENTS.names()


@transaction.atomic
def change(round_: Round, changes: Mapping[str, Any], *, actor: User) -> Round:
    """Change settings of a round, as far as its state allows."""
    round_ = Round.objects.select_for_update().select_related("collection", "scale").get(pk=round_.pk)
    before = RoundSettings.of(round_)
    after = replace(before, **changes)
    changed = [name for name in NAMES if getattr(before, name) != getattr(after, name)]
    if not changed:
        return round_
    if round_.state == Round.State.CLOSED and set(changed) - set(ALWAYS):
        raise Conflict(f"Round {round_} is closed. Only its agreement gate can change.")
    _refuse_fixed(round_, changed)
    after.check(round_.scale.values())
    for name in changed:
        setattr(round_, name, getattr(after, name))
    round_.save(update_fields=changed)
    values = ", ".join(f"{name} to {getattr(after, name)}" for name in changed)
    detail = {name: [getattr(before, name), getattr(after, name)] for name in changed}
    sentence = f"{actor} set {values} in round {round_}"
    audit.record("round_settings.change", sentence, actor=actor, collection=round_.collection, target=round_, **detail)
    return round_


def fixed(round_: Round) -> tuple[str, ...]:
    """Return the settings that can no longer change."""
    if round_.state == Round.State.CLOSED:
        return tuple(name for name in NAMES if name not in ALWAYS)
    return NEVER if round_.state == Round.State.DRAFT else (*NEVER, *UNTIL_OPEN)


def _refuse_fixed(round_: Round, changed: Sequence[str]) -> None:
    wrong = {
        name: "This setting cannot change after the round is created. Create a new round."
        for name in changed
        if name in NEVER
    }
    if round_.state == Round.State.OPEN:
        hint = "This setting cannot change after the round opens. Create a new round."
        wrong |= {name: hint for name in changed if name in UNTIL_OPEN}
    if wrong:
        raise NotValid(
            f"Round {round_} cannot change {', '.join(wrong)}. Create a new round to use other values.", wrong
        )
