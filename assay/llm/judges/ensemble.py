"""Combine the outcomes of several judges, and measure how far they differ. Adding judges soon stops helping, because
they make similar mistakes. Agreement of all judges is evidence, not proof, especially for relevant documents. A person
should review the pairs on which they disagree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median_low
from typing import Literal

from assay.core.errors import NotValid
from assay.llm.judge import Outcome

Rule = Literal["median", "vote", "mean", "unanimity"]
RULES: dict[Rule, str] = {
    "median": "the lower median; for graded scales",
    "vote": "the most frequent grade; a tie is undecided",
    "mean": "the mean, rounded half down to the scale",
    "unanimity": "the grade that all judges give; anything else is undecided",
}


@dataclass(frozen=True)
class Together:
    """Combined result of an ensemble for one pair."""

    grade: int | None
    mean: float | None
    spread: int
    agree: float | None
    grades: int
    failed: int

    @property
    def disagreement(self) -> float:
        """Return the disagreement, from 0 to 1, used to sort pairs for review."""
        return 1.0 if self.agree is None else 1 - self.agree


def together(outcomes: Sequence[Outcome], values: Sequence[int], rule: Rule = "median", *, least: int = 2) -> Together:
    """Combine the outcomes of several judges for a pair.

    Examples
    --------
    >>> three = [Outcome("graded", 3), Outcome("graded", 1), Outcome("refused"), Outcome("graded", 1)]
    >>> found = together(three, (0, 1, 2, 3))
    >>> found.grade, found.spread, round(found.agree, 2), found.failed
    (1, 2, 0.33, 1)
    """
    if rule not in RULES:
        raise NotValid(f"unknown ensemble rule {rule!r}; known: {', '.join(RULES)}")
    grades = [outcome.grade for outcome in outcomes if outcome.grade is not None]
    pairs = len(grades) * (len(grades) - 1)
    same = sum(times * (times - 1) for times in Counter(grades).values())
    enough = len(grades) >= least
    return Together(
        _decided(grades, values, rule, len(outcomes)) if enough and grades else None,
        fmean(grades) if grades else None,
        max(grades) - min(grades) if grades else 0,
        same / pairs if pairs else None,
        len(grades),
        len(outcomes) - len(grades),
    )


def all_together(
    judged: Mapping[str, Mapping[tuple[str, str], Outcome]],
    values: Sequence[int],
    rule: Rule = "median",
    *,
    least: int = 2,
) -> dict[tuple[str, str], Together]:
    """Combine the outcomes for every pair that any judge answered."""
    pairs = dict.fromkeys(pair for answers in judged.values() for pair in answers)
    return {
        pair: together([answers[pair] for answers in judged.values() if pair in answers], values, rule, least=least)
        for pair in pairs
    }


def _decided(grades: Sequence[int], values: Sequence[int], rule: Rule, judges: int) -> int | None:
    if rule == "median":
        return median_low(grades)
    if rule == "mean":
        mean = fmean(grades)
        # Round half down: the lower of two equally near grades.
        return min(values, key=lambda value: (abs(value - mean), value))
    (first, times), *others = Counter(grades).most_common()
    if rule == "unanimity":
        return first if times == judges else None
    return None if any(number == times for _, number in others) else first
