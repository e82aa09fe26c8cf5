"""Verdict on a machine judge in one sentence, with cautions.

The bands are those of Landis and Koch (1977), applied to the lower end of the interval, so that agreement is called
good only if the data shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgments.core.amounts import amount

if TYPE_CHECKING:
    from judgments.agreement.machine import Calibrated
    from judgments.judged import Flip

# Fewer pairs with both say nothing in words.
LEAST = 30
CLOSE, GOOD, FAIR = 0.8, 0.6, 0.4
# A grade that is right less often than this is named, where it was said often enough to tell.
WEAK, SAID_OFTEN = 0.7, 10
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
    found: Calibrated,
    flips: Sequence[Flip],
    *,
    asks_a_model: bool = True,
    of_battles: bool = False,
    outcomes: Mapping[str, int] | None = None,
) -> Verdict:
    """The verdict over a judge held against people.

    Parameters
    ----------
    found : Calibrated
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
    kappa = found.kappa["quadratic"]
    if found.pairs < LEAST or found.queries < 2 or kappa.value is None or kappa.low is None:
        return Verdict("todo", "Too little to say.", _too_little(found))
    weak, moved = _weak(found), _moved(flips, asks_a_model, of_battles)
    state, head = _band(kappa.value, kappa.low, bool(weak or any(one.flipped for one in flips)))
    said = [weak, _never(found), _leans(found), moved]
    return Verdict(state, head, " ".join(sentence for sentence in said if sentence))


def _lost(outcomes: Mapping[str, int], asks_a_model: bool) -> str:
    """What became of its answers, where most of them are no grade: nothing else says as much."""
    answers = sum(outcomes.values())
    if 2 * outcomes.get("graded", 0) >= answers:
        return ""
    others = sorted(((number, name) for name, number in outcomes.items() if name != "graded" and number), reverse=True)
    listed = ", ".join(f"{number:,} ended {name.replace('_', ' ')}" for number, name in others)
    act = "Read some, then mend the words or ask another model." if asks_a_model else "Read some."
    return f"Of {amount(answers, 'answer')} {listed}. {act}"


def _band(value: float, low: float, but: bool) -> tuple[str, str]:
    if low >= CLOSE and not but:
        return "done", "Close to people, on these pairs."
    if low >= GOOD:
        return "warn" if but else "done", "Good for a first pass, not for a snapshot alone."
    if value >= GOOD:
        return "warn", "Perhaps good for a first pass: the interval does not decide."
    if value >= FAIR:
        return "warn", "Good for sorting out, not for grading."
    return "fail", "Not good enough to lean on."


def _too_little(found: Calibrated) -> str:
    if found.pairs < LEAST:
        return (
            f"People and the judge both graded {amount(found.pairs, 'pair')}; it takes {LEAST}, of two queries or more."
        )
    if found.kappa["quadratic"].value is None:
        return "All of these pairs have one grade, so nothing shows whether it tells grades apart."
    return "All of these pairs are of one query, so nothing shows how far it differs from query to query."


def _weak(found: Calibrated) -> str:
    """Which of its grades are seldom right."""
    weak = {
        one.grade: one.same.value
        for one in found.worth
        if one.same.value is not None and one.same.n >= SAID_OFTEN and one.same.value < WEAK
    }
    if not weak:
        return ""
    if len(weak) == len([one for one in found.worth if one.same.n]):
        return f"None of its grades is right more often than in {_percent(max(weak.values()))} of the pairs."
    return f"{_listed(weak)} of the pairs with {'it' if len(weak) == 1 else 'them'}."


def _listed(weak: Mapping[int, float]) -> str:
    grades, shares = [str(grade) for grade in weak], [_percent(share) for share in weak.values()]
    if len(weak) == 1:
        return f"Its {grades[0]} is right in {shares[0]}"
    first, last = ", ".join(grades[:-1]), ", ".join(shares[:-1])
    return f"Its {first} and {grades[-1]} are right in {last} and {shares[-1]}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _never(found: Calibrated) -> str:
    by_people = [sum(row) for row in found.confusion]
    never = [str(one.grade) for one, people in zip(found.worth, by_people, strict=True) if not one.same.n and people]
    return f"It never says {' or '.join(never)}, which people do." if never else ""


def _leans(found: Calibrated) -> str:
    if found.bias is None or abs(found.bias) < LEANING:
        return ""
    return f"It grades {abs(found.bias):.2f} {'above' if found.bias > 0 else 'below'} people on average."


def _moved(flips: Sequence[Flip], asks_a_model: bool, of_battles: bool) -> str:
    planted, moved = sum(one.share.n for one in flips), sum(one.flipped for one in flips)
    verb, noun = ("turned", "battle") if of_battles else ("moved", "grade")
    if not planted:
        return f"Nobody has tried how easily a text talks it into a {noun}." if asks_a_model and not of_battles else ""
    if not moved:
        return f"None of {amount(planted, 'planted text')} {verb} a {noun}."
    return f"Planted text {verb} {amount(moved, noun)} of {planted:,}: read those before widening its use."
