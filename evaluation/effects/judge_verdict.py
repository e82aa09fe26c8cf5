"""Verdict on a machine judge in one sentence, with cautions.

The bands are those of Landis and Koch (1977), applied to the lower end of the interval, so that agreement is called
good only if the data shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.core.counted_nouns import amount

if TYPE_CHECKING:
    from assay.coefficients.human_machine import Calibrated
    from judgments.machines.calibration.calibration import Flip

# Fewer pairs with both say nothing in words.
LEAST = 30
CLOSE, GOOD, FAIR = 0.8, 0.6, 0.4
# A grade that is right less often than this is named, where it was said often enough to tell.
WEAK, ENOUGH_USES = 0.7, 10
LEANING = 0.25


@dataclass(frozen=True)
class Verdict:
    """What a page says of a judge.

    Parameters
    ----------
    state : str
        ``done``, ``warn``, ``fail`` or ``todo``: the shape that stands beside it.
    head : str
        The verdict.
    why : str
        What it stands on, and what to look at.
    """

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
    """The verdict over a judge held against people.

    Parameters
    ----------
    calibrated : Calibrated
        On the audit slice, or on whatever people graded.
    flips : sequence of Flip
        What its canaries did; empty where none were planted.
    asks_a_model : bool
        Whether a text could talk to it at all.
    of_battles : bool
        Whether planted text turned battles, and moved no grade.
    outcomes : mapping of str to int, optional
        How its answers ended, by name.
    """
    if outcomes and (lost := _lost(outcomes, asks_a_model)):
        return Verdict("fail", "Too few of its answers are grades.", lost)
    kappa = calibrated.kappa["quadratic"]
    if calibrated.pairs < LEAST or calibrated.queries < 2 or kappa.value is None or kappa.low is None:
        return Verdict("todo", "Not enough pairs.", _too_little(calibrated))
    weak, moved = _weak(calibrated), _moved(flips, asks_a_model, of_battles)
    state, head = _band(kappa.value, kappa.low, bool(weak or any(one.flipped for one in flips)))
    sentences = [weak, _never(calibrated), _leans(calibrated), moved]
    return Verdict(state, head, " ".join(sentence for sentence in sentences if sentence))


def _lost(outcomes: Mapping[str, int], asks_a_model: bool) -> str:
    """What became of its answers, where most of them are no grade: nothing else says as much."""
    answers = sum(outcomes.values())
    if 2 * outcomes.get("graded", 0) >= answers:
        return ""
    others = sorted(((number, name) for name, number in outcomes.items() if name != "graded" and number), reverse=True)
    listed = ", ".join(f"{number:,} ended {name.replace('_', ' ')}" for number, name in others)
    act = "Read some, then correct the prompt or choose another model." if asks_a_model else "Read some."
    return f"Of {amount(answers, 'answer')} {listed}. {act}"


def _band(value: float, low: float, but: bool) -> tuple[str, str]:
    if low >= CLOSE and not but:
        return "done", "Close to people on these pairs."
    if low >= GOOD:
        return "warn" if but else "done", "Good enough for a first pass, not for a snapshot alone."
    if value >= GOOD:
        return "warn", "Possibly good enough for a first pass: the interval does not decide."
    if value >= FAIR:
        return "warn", "Good enough for filtering, not for grading."
    return "fail", "Not good enough to rely on."


def _too_little(calibrated: Calibrated) -> str:
    if calibrated.pairs < LEAST:
        pairs = amount(calibrated.pairs, "pair")
        return f"People and the judge both graded {pairs}; {LEAST} are needed, of 2 queries or more."
    if calibrated.kappa["quadratic"].value is None:
        return "All of these pairs have the same grade, so they cannot show whether the judge distinguishes grades."
    return "All of these pairs are from one query, so they cannot show how results vary between queries."


def _weak(calibrated: Calibrated) -> str:
    """Which of its grades are seldom right."""
    weak = {
        one.grade: one.same.value
        for one in calibrated.worth
        if one.same.value is not None and one.same.n >= ENOUGH_USES and one.same.value < WEAK
    }
    if not weak:
        return ""
    if len(weak) == len([one for one in calibrated.worth if one.same.n]):
        return f"None of its grades is correct in more than {_percent(max(weak.values()))} of the pairs."
    return f"{_listed(weak)} of the pairs with {'it' if len(weak) == 1 else 'them'}."


def _listed(weak: Mapping[int, float]) -> str:
    grades, shares = [str(grade) for grade in weak], [_percent(share) for share in weak.values()]
    if len(weak) == 1:
        return f"Its {grades[0]} is correct in {shares[0]}"
    first, last = ", ".join(grades[:-1]), ", ".join(shares[:-1])
    return f"Its {first} and {grades[-1]} are correct in {last} and {shares[-1]}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _never(calibrated: Calibrated) -> str:
    by_people = [sum(row) for row in calibrated.confusion]
    never = [
        str(one.grade) for one, people in zip(calibrated.worth, by_people, strict=True) if not one.same.n and people
    ]
    return f"It never gives {' or '.join(never)}, but people do." if never else ""


def _leans(calibrated: Calibrated) -> str:
    if calibrated.bias is None or abs(calibrated.bias) < LEANING:
        return ""
    return f"It grades {abs(calibrated.bias):.2f} {'above' if calibrated.bias > 0 else 'below'} people on average."


def _moved(flips: Sequence[Flip], asks_a_model: bool, of_battles: bool) -> str:
    planted, moved = sum(one.share.n for one in flips), sum(one.flipped for one in flips)
    verb, noun = ("turned", "battle") if of_battles else ("moved", "grade")
    if not planted:
        return (
            f"No prompt-injection probe has tested how easily it gives a {noun}."
            if asks_a_model and not of_battles
            else ""
        )
    if not moved:
        return f"None of {amount(planted, 'prompt-injection probe')} {verb} a {noun}."
    return f"Prompt-injection probes {verb} {amount(moved, noun)} of {planted:,}. Read those before wider use."
