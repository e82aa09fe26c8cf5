"""Auto-acceptance of a judge's lowest grade: when a pair needs no person, and whether that still holds.

It applies only if a lead requests it, only to the lowest grade, and only while people confirm that grade on the audit
slice. Of the pairs with this grade outside the slice, which no person judges, the share that is not relevant must be
at or above the bound, with the confidence that `agreement.audited` maintains over all judges and checks. The check
runs each time the result is read. A grade above the lowest always needs a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from judgments import audit, judged, machine_runs, people_rounds, untold
from judgments.agreement.audited import alpha_of, right_outside
from judgments.core.amounts import agree, amount
from judgments.core.errors import Conflict, NotValid
from judgments.models import AutoAccept, Judge, JudgeRun, MachineJudgment, Role, Round, User
from judgments.rejudging import still_raters
from judgments.round_labels import Key

# Fewer of these grades confirmed or not say too little, whatever the limit.
LEAST = 30


@dataclass(frozen=True)
class Confirmed:
    """What people found of the pairs to which a judge gave its lowest grade.

    Parameters
    ----------
    population, sampled : int
        How many there are in the round, and how many of them in the audit slice.
    judged, right : int
        Of those in the slice how many people have judged, and how many they find not relevant.
    low : float or None
        Of the others the share that is not relevant at least; None where there are none, or no slice.
    """

    population: int = 0
    sampled: int = 0
    judged: int = 0
    right: int = 0
    low: float | None = None

    @property
    def whole(self) -> bool:
        """Whether people have judged all of the slice."""
        return self.judged == self.sampled


@dataclass(frozen=True)
class Standing:
    """Whether a judge's lowest grades stand now.

    Parameters
    ----------
    stands : bool
        Whether they do.
    why : str
        In words; what to do where they do not.
    confirmed : Confirmed or None
        The numbers behind it; None for a reader who may still grade pairs of the round.
    """

    stands: bool
    why: str
    confirmed: Confirmed | None


def ask(round_: Round, judge: Judge, *, bound: float, actor: User) -> AutoAccept:
    """Let a judge's lowest grade stand in a round, as long as the bound holds.

    An ask in vain is on record where people had judged the whole slice: it was a look, and the next one has to clear
    more.

    Raises
    ------
    NotValid
        The bound is no share from 0.5 below 1, or it does not hold now.
    Conflict
        Another judge's grades stand in this round, or the judge is at work.
    """
    if not 0.5 <= bound < 1:
        raise NotValid("The bound is out of range.", {"bound": "From 0.5, below 1; 0.95 is usual."})
    found = _asked(round_, judge, bound, actor)
    if isinstance(found, Standing):
        why = told_to(actor, round_, found).why
        raise NotValid(why, {"bound": why})
    return found


@transaction.atomic
def _asked(round_: Round, judge: Judge, bound: float, actor: User) -> AutoAccept | Standing:
    if round_.auto_accepts.filter(ended_at__isnull=True).exists():
        raise Conflict("The grades of a judge stand in this round already. End that first.")
    run = _run(round_, judge)
    if run is not None and not machine_runs.is_over(run):
        raise Conflict(f"{judge} is at work. Ask when it is done: what stands is shown for the grades that are there.")
    found = _standing(round_, judge, bound, looks=round_.auto_accepts.filter(judge=judge).count() + 1)
    if not found.stands and not (found.confirmed.whole and found.confirmed.judged >= LEAST):
        return found
    models = judged.money(judge, round_).models
    made = AutoAccept.objects.create(
        round=round_,
        judge=judge,
        bound=bound,
        model_answered=_named(models),
        prompt_sha256=judge.prompt_sha256,
        created_by=actor,
        ended_at=None if found.stands else timezone.now(),
    )
    let = "lets the lowest grade" if found.stands else "asked in vain to let the lowest grade"
    sentence = f"{actor} {let} of {judge} stand in {round_} above {bound:g}"
    audit.record("auto_accept.ask", sentence, actor=actor, collection=round_.collection, target=made)
    return made if found.stands else found


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
    """Whether it holds now: the bound, one model, the words and the grades that it was asked for with."""
    models = judged.money(asked.judge, asked.round).models
    looks = AutoAccept.objects.filter(round=asked.round_id, judge=asked.judge_id, pk__lte=asked.pk).count()
    found = _standing(asked.round, asked.judge, asked.bound, looks=looks)
    if asked.judge.prompt_sha256 != asked.prompt_sha256:
        return Standing(False, "Suspended: the judge's words are others by now.", found.confirmed)
    if models and _named(models) != asked.model_answered:
        said = f"Suspended: {', '.join(models)} answered; it was asked for with {asked.model_answered}."
        return Standing(False, said, found.confirmed)
    if more := _graded_since(asked):
        said = f"Suspended: the judge gave {more:,} more of these grades since it was asked for. End it and ask again."
        return Standing(False, said, found.confirmed)
    return found


def told_to(reader: User, round_: Round, found: Standing) -> Standing:
    """The same without its numbers for who may still grade pairs of the round: those would tell them something."""
    if not untold.untold_pairs(reader, round_).exists():
        return found
    held = "holds" if found.stands else "does not hold"
    return Standing(
        found.stands, f"It {held} now. You may still grade pairs of this round: its numbers are not told.", None
    )


def accepted(round_: Round) -> dict[Key, int]:
    """The pairs whose machine grade stands without a person now, with that grade; none while it is suspended."""
    asked = asked_for(round_)
    if asked is None or not standing(asked).stands:
        return {}
    lowest, audited = round_.scale.values()[0], judged.slice_keys(asked.judge, round_)
    grades = judged.grades_of(asked.judge, round_)
    return {key: lowest for key, grade in grades.items() if grade == lowest and key not in audited}


@transaction.atomic
def draft_round(round_: Round, *, actor: User) -> Round:
    """Make a draft of what is left to people: the round's pairs that no person judged, without those that stand.

    What is left of the audit slice is in it whatever the machine said. Nothing of the round itself changes: a rater of
    it who found pairs gone would know what a machine said of them.

    Raises
    ------
    Conflict
        Nothing stands, nothing is left, or the lead rates in the round: which pairs are gone would tell them.
    """
    if round_.raters.filter(user=actor, left_at__isnull=True).exists() or untold.untold_pairs(actor, round_).exists():
        raise Conflict("You rate in this round: which pairs are left out would tell you. Have another lead do it.")
    asked, stand = asked_for(round_), accepted(round_)
    if asked is None or not stand:
        raise Conflict("No grade of a machine stands in this round now, so there is nothing to leave out.")
    known = judged.labels_of(round_)
    rows = round_.pairs.select_related("query", "document").order_by("position")
    left = {pair: (pair.query.query_id, pair.document.doc_id) for pair in rows}
    chosen = [pair for pair, key in left.items() if key not in known and key not in stand]
    if not chosen:
        raise Conflict("People have judged all pairs but those that stand.")
    gone = sum(key in stand and key not in known for key in left.values())
    how = {"auto_accept": {"round": round_.name, "judge": asked.judge.name, "bound": asked.bound, "left_out": gone}}
    # A lead may compare the two rounds: those who rate as well are not asked.
    raters = [user for user in still_raters(round_) if not user.memberships.filter(_leads(round_)).exists()]
    made = people_rounds.draft_of(round_, chosen, how=how, actor=actor, raters=raters)
    sentence = (
        f"{actor} made round {made} of what {asked.judge} leaves to "
        f"people, without {amount(gone, 'that stands', 'that stand')}"
    )
    audit.record("auto_accept.draft_round", sentence, actor=actor, collection=round_.collection, target=made)
    return made


def _leads(round_: Round) -> Q:
    return Q(collection=round_.collection_id, role=Role.LEAD)


def _run(round_: Round, judge: Judge) -> JudgeRun | None:
    return judge.runs.filter(round=round_).select_related("job").first()


def _graded_since(asked: AutoAccept) -> int:
    lowest = asked.round.scale.values()[0]
    rows = MachineJudgment.objects.filter(judge=asked.judge_id, pair__round=asked.round_id, grade=lowest)
    return rows.filter(created_at__gt=asked.created_at).count()


def _standing(round_: Round, judge: Judge, bound: float, *, looks: int) -> Standing:
    run = _run(round_, judge)
    if run is None:
        said = "Its grades are of no run in this round, such as those made of battles: they need a person."
        return Standing(False, said, Confirmed())
    found = _confirmed(round_, judge, run, looks)
    if judged.money(judge, round_).renamed:
        return Standing(False, "Not now: a model answered under more than one name.", found)
    if found.judged < LEAST:
        said = (
            f"People have judged {amount(found.judged, 'pair')} of the audit slice with this grade; it takes {LEAST}."
        )
        return Standing(False, said, found)
    outside = found.population - found.sampled
    if found.low is None:
        return Standing(False, "All pairs with this grade are in the audit slice: there is nothing to accept.", found)
    said = f"people confirm {found.right:,} of the {found.sampled:,} in the audit slice"
    if not found.whole:
        said += (
            f" ({amount(found.sampled - found.judged, 'is', 'are')} not judged yet "
            f"and {agree(found.sampled - found.judged, 'counts', 'count')} against it)"
        )
    said += f"; of the {amount(outside, 'other')} at least {found.low:.3f} are not relevant"
    if found.low < bound:
        return Standing(False, f"Not now: {said}, below {bound:g}.", found)
    return Standing(True, f"Holds: {said}.", found)


def _named(models: Sequence[str]) -> str:
    """As the row names who answered: one model, or all that fought the judge's battles."""
    return ", ".join(models)[:200]


def _confirmed(round_: Round, judge: Judge, run: JudgeRun, looks: int) -> Confirmed:
    """The numbers, with the confidence that is left for this judge and look."""
    lowest, from_ = round_.scale.values()[0], round_.scale.relevant_from
    inside, people = judged.slice_keys(judge, round_), judged.labels_of(round_)
    given = [key for key, grade in judged.grades_of(judge, round_).items() if grade == lowest]
    sampled = [key for key in given if key in inside]
    said = [people[key] for key in sampled if key in people]
    right = sum(grade < from_ for grade in said)
    before = round_.judge_runs.filter(pk__lt=run.pk).count()
    low = right_outside(len(given), len(sampled), right, alpha_of(before + 1, looks))
    return Confirmed(len(given), len(sampled), len(said), right, low)
