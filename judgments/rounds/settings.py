"""Settings and scales of rounds: their fields, valid values, presets, and the states in which they can change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, asdict, dataclass, field, fields, replace
from typing import Any

from django.db import transaction

from assay.core.errors import Conflict, NotValid
from judgments.models import Collection, Grade, Round, Scale, User, audit
from judgments.models.round import DEFAULT_GRADES

Row = tuple[int, str, str]


@dataclass(frozen=True)
class Preset:
    """A predefined scale."""

    title: str
    grades: tuple[Row, ...]
    relevant_from: int = 1


PRESETS: dict[str, Preset] = {
    "graded-4": Preset("Four grades, 0-3", DEFAULT_GRADES),
    "binary": Preset(
        "Yes or no, 0-1",
        (
            (0, "Not relevant", "This does not help me."),
            (1, "Relevant", "This helps at least a little."),
        ),
    ),
    "graded-3": Preset(
        "Three grades, 0-2",
        (
            (0, "Not relevant", "This does not help me."),
            (1, "Partly relevant", "It helps somewhat, but I would keep looking."),
            (2, "Relevant", "I could stop looking here."),
        ),
    ),
    "graded-5": Preset(
        "Five grades, 0-4",
        (
            (0, "Poor", "It has nothing to do with what I want."),
            (1, "Fair", "I see the connection, but I would not open it."),
            (2, "Good", "Worth opening, though others are likely better."),
            (3, "Very good", "I would be glad to find this."),
            (4, "Perfect", "Exactly what I am looking for."),
        ),
        relevant_from=2,
    ),
}


def make_scale(collection: Collection, grades: Sequence[Row] | None, *, relevant_from: int | None = None) -> Scale:
    """Create a scale with these grades; the default four if None is given."""
    rows = sorted(grades or DEFAULT_GRADES)
    values = [value for value, _, _ in rows]
    if len(rows) < 2 or len(set(values)) != len(values):
        raise NotValid(
            "A scale needs at least two different grades.", {"scale": "Give each grade a different value from 0."}
        )
    if any(not 0 <= value <= 100 for value in values) or any(not label.strip() for _, label, _ in rows):
        raise NotValid("The scale is not valid.", {"scale": "Use whole numbers from 0 to 100, each with a label."})
    threshold = max(1, values[0] + 1) if relevant_from is None else relevant_from
    if not values[0] < threshold <= values[-1]:
        hint = f"Choose a grade from {values[0] + 1} to {values[-1]}, so that not all grades count as relevant."
        raise NotValid(f"The lowest relevant grade is not valid. {hint}", {"relevant_from": hint})
    scale = Scale.objects.create(collection=collection, relevant_from=threshold)
    Grade.objects.bulk_create(
        Grade(scale=scale, value=value, label=label.strip()[:40], cue=cue.strip()[:200]) for value, label, cue in rows
    )
    return scale


# More ratings per pair would be a mistake.
MOST_RATINGS = 20
MOST_STEPS = 100

# Settings that the existing pairs and slots depend on.
NEVER = ("ratings_per_pair", "overlap")
# Settings that would treat current raters differently from later ones.
UNTIL_OPEN = ("pass_mark", "pass_within")
# Settings that do not affect rating. Every change is in the audit trail.
ALWAYS = ("gate_coefficient", "gate_threshold")

OPTIONAL = ("extra_at", "gold_every", "pass_mark")
LONGEST_QUALIFICATION = 60


def setting(part: str, default: Any, label: str, hint: str = "", about: str = "", **limits: Any) -> Any:
    """Declare a setting with its part, label and help text on the page, its description in the API, and its limits.

    ``low``, ``high`` and ``error`` are the limits of a number; ``bounded`` says whether the page knows the upper one.
    """
    metadata = {
        "part": part,
        "label": label,
        "hint": hint,
        "about": about or limits.get("error", ""),
        "bounded": True,
        **limits,
    }
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class RoundSettings:
    """The settings of a round, without its pairs, scale, guidelines, raters and seed."""

    ratings_per_pair: int = setting(
        "ratings",
        2,
        "Ratings per pair",
        "Measuring agreement requires at least two ratings per pair.",
        low=1,
        high=MOST_RATINGS,
        error=f"Enter a whole number from 1 to {MOST_RATINGS}.",
    )
    overlap: float = setting(
        "ratings",
        1.0,
        "Share of pairs with several ratings",
        "1 means every pair; 0.2 means one in five, drawn with the seed. The other pairs get one rating.",
        "Share of the pairs that get all their ratings.",
        low=0,
        high=1,
        error="Enter a share of the pairs from 0 to 1, for example 0.2.",
    )
    extra_at: int | None = setting(
        "extra",
        None,
        "Add a rater when grades differ by",
        "Conflicting pairs then get a third grade. Leave it empty to add no raters.",
        "Add a rater if grades differ by this many steps; null means never.",
        low=1,
        high=MOST_STEPS,
        bounded=False,
        error="Enter the difference between grades, a whole number of at least 1. Leave the field empty to add no "
        "raters.",
    )
    extra_most: int = setting(
        "extra",
        1,
        "Maximum extra raters per pair",
        "1 is typical.",
        "Maximum number of raters added to a pair.",
        low=1,
        high=MOST_RATINGS,
        bounded=False,
        error=f"Enter the maximum number of extra raters per pair, a whole number from 1 to {MOST_RATINGS}.",
    )
    breadth_first: bool = setting(
        "raters",
        False,
        "Rate every pair once before second ratings",
        "Shows relevant documents early. Otherwise raters finish one query at a time, which is easier.",
        "If true, every pair gets one rating before any pair gets a second; if false, queries are completed one by "
        "one.",
    )
    as_list: bool = setting(
        "raters",
        False,
        "Show the documents of a query as a list",
        "Suits short documents such as products. Each rater can change this.",
        "Whether documents are shown as a list at first.",
    )
    walk_in: bool = setting(
        "raters",
        False,
        "Allow raters of this collection to join",
        "The round appears on their home page. Otherwise only invited raters can rate.",
        "Whether raters of the collection can join without an invitation.",
    )
    by_language: bool = setting(
        "raters",
        False,
        "Match queries to the languages that a rater reads",
        "Uses the language of the query and the languages on the Members page.",
        "Whether raters get only queries in languages that they read.",
    )
    qualification: str = setting(
        "raters",
        "",
        "Required qualification (optional)",
        "A qualification from the Members page, for example medicine.",
        "The qualification that raters need.",
    )
    pass_mark: float | None = setting(
        "quality",
        None,
        "Share of correct grades required to qualify",
        "Raters grade gold pairs with feedback and can start after they pass. Leave it empty for no qualification.",
        "Share of correct grades of gold pairs required to qualify; null means no qualification.",
        low=0.01,
        high=1,
        error="Enter the required share of correct grades from 0.01 to 1, for example 0.8. Leave the field empty for "
        "no qualification.",
    )
    pass_within: int = setting(
        "quality",
        0,
        "Difference that still counts as correct",
        "0 requires the exact grade.",
        "Maximum difference from the gold grade that counts as correct.",
        low=0,
        high=MOST_STEPS,
        bounded=False,
        error=f"Enter the maximum difference that counts as correct, a whole number from 0 to {MOST_STEPS}.",
    )
    gold_every: int | None = setting(
        "quality",
        None,
        "Pairs per hidden gold pair",
        "With 20, one in 20 pairs is a gold pair, which raters can’t recognize. Leave it empty for no gold pairs.",
        "One gold pair per this many pairs; null means none.",
        low=2,
        high=1_000,
        error="Enter a whole number from 2 to 1000: the number of pairs per gold pair. Leave the field empty for no "
        "gold pairs.",
    )
    repeat_share: float = setting(
        "quality",
        0.0,
        "Share of pairs shown as repeats",
        "Shows a rater's own pairs again to measure self-consistency. 0.05 adds 5% more ratings.",
        "Share of a rater's own pairs shown again as repeats.",
        low=0,
        high=0.5,
        error="Enter a share of a rater's own pairs from 0 to 0.5, for example 0.05.",
    )
    gate_coefficient: str = setting("quality", "alpha-ordinal", "Coefficient of the agreement gate")
    gate_threshold: float = setting(
        "quality",
        0.60,
        "Threshold of the agreement gate",
        "Freezing the labels of a round below the threshold requires a reason. 0.6 is typical.",
        "The value that the coefficient must reach.",
        low=-1,
        high=1,
        error="Enter a threshold from -1 to 1, for example 0.6.",
    )

    @classmethod
    def of(cls, round_: Round) -> RoundSettings:
        """Return the settings of an existing round."""
        return cls(**{name: getattr(round_, name) for name in NAMES})

    def as_dict(self) -> dict[str, Any]:
        """Return the values by the column names of the round."""
        return asdict(self)

    def check(self, grades: Sequence[int] = ()) -> None:
        """Refuse values that are invalid or do not fit a scale with these grades."""
        limited = [one for one in SETTINGS.values() if "low" in one.metadata]
        wrong = {one.name: one.metadata["error"] for one in limited if not self._within(one)}
        if len(self.qualification) > LONGEST_QUALIFICATION:
            wrong["qualification"] = f"Use at most {LONGEST_QUALIFICATION} characters."
        if (known := gate_coefficients()) and self.gate_coefficient not in known:
            wrong["gate_coefficient"] = f"Choose one of {', '.join(known)}."
        if grades and not wrong:
            wrong |= self._off_the_scale(max(grades) - min(grades))
        if wrong:
            named = "; ".join(f"{name}: {hint}" for name, hint in wrong.items())
            raise NotValid(f"The settings of the round are not valid. {named}", wrong)

    def _within(self, one: Field[Any]) -> bool:
        value = getattr(self, one.name)
        if value is None:
            return one.name in OPTIONAL
        whole = isinstance(value, int) and not isinstance(value, bool)
        # NaN fails both comparisons.
        return (whole or "int" not in one.type) and bool(one.metadata["low"] <= value <= one.metadata["high"])

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


SETTINGS: Mapping[str, Field[Any]] = {one.name: one for one in fields(RoundSettings)}
NAMES = tuple(SETTINGS)


def names_of(*parts: str) -> tuple[str, ...]:
    """Return the settings of these parts of a page."""
    return tuple(name for name in NAMES if SETTINGS[name].metadata["part"] in parts)


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
    audit.record("round_settings.change", sentence, actor=actor, target=round_, **detail)
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
