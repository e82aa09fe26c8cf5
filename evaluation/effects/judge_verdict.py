"""Verdict on a machine judge, with cautions.

It applies the bands of Landis and Koch (1977) to the lower end of the interval, so that a judge is called good only if
the data supports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.core.counted_nouns import amount

if TYPE_CHECKING:
    from assay.coefficients.human_machine import Calibrated
    from judgments.machines.calibration.calibration import Flip

# With fewer pairs graded by both, there is no verdict.
LEAST = 30
CLOSE, GOOD, FAIR = 0.8, 0.6, 0.4
# A grade that is correct less often than this is reported if the judge gave it often enough.
WEAK, ENOUGH_USES = 0.7, 10
LEANING = 0.25


@dataclass(frozen=True)
class Verdict:
    """The verdict on a judge for a page."""

    state: str
    head: str
    why: str


def verdict(
    calibrated: Calibrated,
    flips: Sequence[Flip],
    *,
    asks_a_model: bool = True,
    of_battles: bool = False,
    outcomes: Mapping[str, int] | None = None,
) -> Verdict:
    """Return the verdict on a judge compared with people."""
    if outcomes and (lost := _lost(outcomes, asks_a_model)):
        return Verdict("fail", "Too few of the judge's answers are grades.", lost)
    kappa = calibrated.kappa["quadratic"]
    if calibrated.pairs < LEAST or calibrated.queries < 2 or kappa.value is None or kappa.low is None:
        return Verdict("todo", "Not enough pairs.", _too_little(calibrated))
    weak, moved = _weak(calibrated), _moved(flips, asks_a_model, of_battles)
    state, head = _band(kappa.value, kappa.low, bool(weak or any(one.flipped for one in flips)))
    sentences = [weak, _never(calibrated), _leans(calibrated), moved]
    return Verdict(state, head, " ".join(sentence for sentence in sentences if sentence))


def _lost(outcomes: Mapping[str, int], asks_a_model: bool) -> str:
    """Describe how most answers ended if most of them are not grades."""
    answers = sum(outcomes.values())
    if 2 * outcomes.get("graded", 0) >= answers:
        return ""
    others = sorted(((number, name) for name, number in outcomes.items() if name != "graded" and number), reverse=True)
    listed = ", ".join(f"{number:,} {name.replace('_', ' ')}" for number, name in others)
    act = "Read some of them, then correct the prompt or choose another model." if asks_a_model else "Read some."
    return f"Of {amount(answers, 'answer')}: {listed}. {act}"


def _band(value: float, low: float, but: bool) -> tuple[str, str]:
    if low >= CLOSE and not but:
        return "done", "Agrees closely with people on these pairs."
    if low >= GOOD:
        return "warn" if but else "done", "Good enough for a first pass, but not as the only source of labels."
    if value >= GOOD:
        return "warn", "Possibly good enough for a first pass; the interval is too wide to tell."
    if value >= FAIR:
        return "warn", "Good enough for filtering, but not for grading."
    return "fail", "Not reliable enough to use."


def _too_little(calibrated: Calibrated) -> str:
    if calibrated.pairs < LEAST:
        pairs = amount(calibrated.pairs, "pair")
        return f"People and the judge both graded {pairs}; {LEAST} are needed, from at least 2 queries."
    if calibrated.kappa["quadratic"].value is None:
        return "All of these pairs have the same grade, so they cannot show whether the judge distinguishes grades."
    return "All of these pairs are from one query, so they cannot show how results vary between queries."


def _weak(calibrated: Calibrated) -> str:
    """Name the grades that are rarely correct."""
    weak = {
        one.grade: one.same.value
        for one in calibrated.worth
        if one.same.value is not None and one.same.n >= ENOUGH_USES and one.same.value < WEAK
    }
    if not weak:
        return ""
    if len(weak) == len([one for one in calibrated.worth if one.same.n]):
        return f"No grade of the judge is correct for more than {_percent(max(weak.values()))} of the pairs."
    return f"{_listed(weak)} of the pairs with {'it' if len(weak) == 1 else 'them'}."


def _listed(weak: Mapping[int, float]) -> str:
    grades, shares = [str(grade) for grade in weak], [_percent(share) for share in weak.values()]
    if len(weak) == 1:
        return f"Grade {grades[0]} is correct for {shares[0]}"
    first, last = ", ".join(grades[:-1]), ", ".join(shares[:-1])
    return f"Grades {first} and {grades[-1]} are correct for {last} and {shares[-1]}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _never(calibrated: Calibrated) -> str:
    by_people = [sum(row) for row in calibrated.confusion]
    never = [
        str(one.grade) for one, people in zip(calibrated.worth, by_people, strict=True) if not one.same.n and people
    ]
    return f"The judge never gives {' or '.join(never)}, but people do." if never else ""


def _leans(calibrated: Calibrated) -> str:
    if calibrated.bias is None or abs(calibrated.bias) < LEANING:
        return ""
    return (
        f"The judge grades {abs(calibrated.bias):.2f} {'above' if calibrated.bias > 0 else 'below'} people on average."
    )


def _moved(flips: Sequence[Flip], asks_a_model: bool, of_battles: bool) -> str:
    planted, moved = sum(one.share.n for one in flips), sum(one.flipped for one in flips)
    verb, noun = ("reversed", "comparison") if of_battles else ("changed", "grade")
    if not planted:
        return "No prompt-injection probe has tested this judge yet." if asks_a_model and not of_battles else ""
    if not moved:
        return f"None of {amount(planted, 'prompt-injection probe')} {verb} a {noun}."
    return (
        f"Prompt-injection probes {verb} {amount(moved, noun)} of {planted:,}. Read these answers before you use the "
        "judge more widely."
    )
