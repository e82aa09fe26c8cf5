"""When may a machine's lowest grade stand without a person, and does it still?

Only where a lead asks for it, only for the lowest grade, and only while people confirm it on the audit slice: the lower
end of the interval of its precision has to be at or above the bound. It is looked at each time that anybody asks; a
grade above the lowest always needs a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from judgments import audit, judged
from judgments.core.errors import Conflict, NotValid
from judgments.models import AutoAccept, Judge, Round, User
from judgments.round_labels import Key

if TYPE_CHECKING:
    from judgments.agreement.machine import Share

# Fewer of these grades confirmed or not say too little, whatever the interval.
LEAST = 30


@dataclass(frozen=True)
class Standing:
    """Whether a judge's lowest grades stand now.

    Parameters
    ----------
    stands : bool
        Whether they do.
    why : str
        In words; what to do where they do not.
    confirmed : Share
        Of the pairs of the audit slice to which the judge gave its lowest grade, those that people find not relevant.
    """

    stands: bool
    why: str
    confirmed: Share


@transaction.atomic
def ask(round_: Round, judge: Judge, *, bound: float, actor: User) -> AutoAccept:
    """Let a judge's lowest grade stand in a round, as long as the bound holds.

    Raises
    ------
    NotValid
        The bound is no share from 0.5 below 1, or it does not hold now.
    Conflict
        Another judge's grades stand in this round.
    """
    if not 0.5 <= bound < 1:
        raise NotValid("The bound is out of range.", {"bound": "From 0.5, below 1; 0.95 is usual."})
    if round_.auto_accepts.filter(ended_at__isnull=True).exists():
        raise Conflict("The grades of a judge stand in this round already. End that first.")
    found = _standing(round_, judge, bound)
    if not found.stands:
        raise NotValid(found.why, {"bound": found.why})
    models = judged.money(judge, round_).models
    made = AutoAccept.objects.create(
        round=round_,
        judge=judge,
        bound=bound,
        model_answered=models[0] if models else "",
        prompt_sha256=judge.prompt_sha256,
        created_by=actor,
    )
    sentence = f"{actor} lets the lowest grade of {judge} stand in {round_} above {bound:g}"
    audit.record("auto_accept.ask", sentence, actor=actor, collection=round_.collection, target=made)
    return made


@transaction.atomic
def end(asked: AutoAccept, *, actor: User) -> None:
    """Let none of them stand any more; snapshots that hold them stay as they were frozen."""
    AutoAccept.objects.filter(pk=asked.pk, ended_at__isnull=True).update(ended_at=timezone.now())
    sentence = f"{actor} lets no grade of {asked.judge} stand in {asked.round} any more"
    audit.record("auto_accept.end", sentence, actor=actor, collection=asked.round.collection, target=asked)


def asked_for(round_: Round) -> AutoAccept | None:
    """What a lead asked for in the round and nobody ended."""
    return round_.auto_accepts.filter(ended_at__isnull=True).select_related("judge").first()


def standing(asked: AutoAccept) -> Standing:
    """Whether it holds now: the bound on the audit slice, one model, the words that it was asked for with."""
    models = judged.money(asked.judge, asked.round).models
    found = _standing(asked.round, asked.judge, asked.bound)
    if asked.judge.prompt_sha256 != asked.prompt_sha256:
        return Standing(False, "Suspended: the judge's words are others by now.", found.confirmed)
    if models and models != (asked.model_answered,):
        said = f"Suspended: {', '.join(models)} answered; it was asked for with {asked.model_answered}."
        return Standing(False, said, found.confirmed)
    return found


def accepted(round_: Round) -> dict[Key, int]:
    """The pairs whose machine grade stands without a person now, with that grade; none while it is suspended."""
    asked = asked_for(round_)
    if asked is None or not standing(asked).stands:
        return {}
    lowest, audited = round_.scale.values()[0], judged.slice_keys(asked.judge, round_)
    grades = judged.grades_of(asked.judge, round_)
    return {key: lowest for key, grade in grades.items() if grade == lowest and key not in audited}


def _standing(round_: Round, judge: Judge, bound: float) -> Standing:
    run = judge.runs.filter(round=round_).first()
    lowest = round_.scale.values()[0]
    if run is None:
        return Standing(False, "This judge has no audit slice in the round.", judged.share_of(0, 0))
    inside, people = judged.slice_keys(judge, round_), judged.labels_of(round_)
    grades = judged.grades_of(judge, round_)
    said = [people[key] for key, grade in grades.items() if grade == lowest and key in inside and key in people]
    right = sum(grade < round_.scale.relevant_from for grade in said)
    confirmed = judged.share_of(right, len(said))
    if len(judged.money(judge, round_).models) > 1:
        return Standing(False, "Suspended: more than one model answered.", confirmed)
    if len(said) < LEAST:
        said_so = f"People have judged {len(said):,} pairs of the audit slice with this grade; it takes {LEAST}."
        return Standing(False, said_so, confirmed)
    if confirmed.low is None or confirmed.low < bound:
        low = 0.0 if confirmed.low is None else confirmed.low
        why = f"Suspended: people confirm {right:,} of {len(said):,}; the lower end is {low:.3f}, below {bound:g}."
        return Standing(False, why, confirmed)
    return Standing(True, f"Holds: people confirm {right:,} of {len(said):,}, at least {confirmed.low:.3f}.", confirmed)
