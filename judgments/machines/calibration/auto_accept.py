"""Auto-acceptance of a judge's lowest grade: when a pair needs no person, and whether the condition still holds.

It applies only if a lead requests it, only to the lowest grade, and only while people confirm that grade on the audit
slice. Among the pairs with this grade outside the slice, which no person judges, the share that is not relevant must
reach the bound, with the confidence that `agreement.audited` maintains over all judges and checks. The check runs each
time the result is read. A grade above the lowest always needs a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from assay.coefficients.audit_bound import alpha_of, right_outside
from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import agree, amount
from judgments.labels import grade_visibility
from judgments.labels.round_labels import Key
from judgments.machines import machine_runs
from judgments.machines.calibration import calibration as judged
from judgments.machines.calibration import cost
from judgments.models import AutoAccept, Judge, JudgeRun, MachineJudgment, Role, Round, User, audit
from judgments.rounds import rounds
from judgments.rounds.rounds import still_raters

# The minimum number of judged pairs, for any bound.
LEAST = 30


@dataclass(frozen=True)
class Confirmed:
    """People's judgments of the pairs to which a judge gave its lowest grade."""

    population: int = 0
    sampled: int = 0
    judged: int = 0
    right: int = 0
    low: float | None = None

    @property
    def whole(self) -> bool:
        """Whether people have judged the whole slice."""
        return self.judged == self.sampled


@dataclass(frozen=True)
class Status:
    """Whether a judge's lowest grades are accepted now."""

    stands: bool
    why: str
    confirmed: Confirmed | None


def activate(round_: Round, judge: Judge, *, bound: float, actor: User) -> AutoAccept:
    """Accept a judge's lowest grade in a round as long as the bound holds."""
    if not 0.5 <= bound < 1:
        raise NotValid(
            "The bound is out of range.", {"bound": "Enter a bound of at least 0.5 and below 1, such as 0.95."}
        )
    result = _create(round_, judge, bound, actor)
    if isinstance(result, Status):
        raise NotValid(visible_status(actor, round_, result).why, "bound")
    return result


@transaction.atomic
def _create(round_: Round, judge: Judge, bound: float, actor: User) -> AutoAccept | Status:
    if round_.auto_accepts.filter(ended_at__isnull=True).exists():
        raise Conflict("This round already accepts the grades of a judge. Stop accepting them first.")
    run = _run(round_, judge)
    if run is not None and not machine_runs.is_over(run):
        raise Conflict(f"{judge} is running. Wait until it has finished, then try again.")
    status = _status(round_, judge, bound, looks=round_.auto_accepts.filter(judge=judge).count() + 1)
    if not status.stands and not (status.confirmed.whole and status.confirmed.judged >= LEAST):
        return status
    models = cost.money(judge, round_).models
    made = AutoAccept.objects.create(
        round=round_,
        judge=judge,
        bound=bound,
        model_answered=_named(models),
        prompt_sha256=judge.prompt_sha256,
        created_by=actor,
        ended_at=None if status.stands else timezone.now(),
    )
    action = "accepted" if status.stands else "failed to accept"
    sentence = f"{actor} {action} the lowest grade of {judge} in {round_} at the bound {bound:g}"
    audit.record("auto_accept.ask", sentence, actor=actor, collection=round_.collection, target=made)
    return made if status.stands else status


@transaction.atomic
def deactivate(accept: AutoAccept, *, actor: User) -> None:
    """Stop accepting the grades. Snapshots that contain them do not change."""
    AutoAccept.objects.filter(pk=accept.pk, ended_at__isnull=True).update(ended_at=timezone.now())
    sentence = f"{actor} stopped accepting grades of {accept.judge} in {accept.round}"
    audit.record("auto_accept.end", sentence, actor=actor, collection=accept.round.collection, target=accept)


def active_accept(round_: Round) -> AutoAccept | None:
    """Return the active auto-acceptance of the round, or None."""
    return round_.auto_accepts.filter(ended_at__isnull=True).select_related("judge").first()


def status_of(accept: AutoAccept) -> Status:
    """Return whether the auto-acceptance holds now, with the model, prompt and grades of the request."""
    models = cost.money(accept.judge, accept.round).models
    looks = AutoAccept.objects.filter(round=accept.round_id, judge=accept.judge_id, pk__lte=accept.pk).count()
    status = _status(accept.round, accept.judge, accept.bound, looks=looks)
    if accept.judge.prompt_sha256 != accept.prompt_sha256:
        return Status(False, "Suspended: the judge's prompt has changed.", status.confirmed)
    if models and _named(models) != accept.model_answered:
        reason = f"Suspended: auto-accept was turned on for {accept.model_answered}, but {', '.join(models)} answered."
        return Status(False, reason, status.confirmed)
    if more := _graded_since(accept):
        reason = (
            f"Suspended: the judge has given this grade {more:,} more times since auto-accept was turned on. Turn it "
            "off and on again."
        )
        return Status(False, reason, status.confirmed)
    return status


def visible_status(reader: User, round_: Round, status: Status) -> Status:
    """Return the status, without numbers for a reader who may still grade pairs of the round."""
    if not grade_visibility.pairs_with_hidden_grades(reader, round_).exists():
        return status
    held = "is in effect" if status.stands else "is not in effect"
    return Status(
        status.stands,
        f"Auto-accept {held}. Its numbers are hidden because you may still grade pairs of this round.",
        None,
    )


def accepted_grades(round_: Round) -> dict[Key, int]:
    """Return the pairs whose machine grade is accepted now, with that grade; empty while it is suspended."""
    accept = active_accept(round_)
    if accept is None or not status_of(accept).stands:
        return {}
    lowest, audited = round_.scale.values()[0], judged.slice_keys(accept.judge, round_)
    grades = judged.grades_of(accept.judge, round_)
    return {key: lowest for key, grade in grades.items() if grade == lowest and key not in audited}


@transaction.atomic
def draft_round(round_: Round, *, actor: User) -> Round:
    """Create a draft round of the pairs that no person judged, without those whose machine grade is accepted."""
    if (
        round_.raters.filter(user=actor, left_at__isnull=True).exists()
        or grade_visibility.pairs_with_hidden_grades(actor, round_).exists()
    ):
        raise Conflict(
            "You are a rater of this round, and the omitted pairs would reveal grades. Ask another lead to create the "
            "draft."
        )
    accept, accepted_pairs = active_accept(round_), accepted_grades(round_)
    if accept is None or not accepted_pairs:
        raise Conflict("This round currently accepts no machine grades, so no pair can be left out.")
    known = judged.labels_of(round_)
    rows = round_.pairs.select_related("query", "document").order_by("position")
    left = {pair: (pair.query.query_id, pair.document.doc_id) for pair in rows}
    chosen = [pair for pair, key in left.items() if key not in known and key not in accepted_pairs]
    if not chosen:
        raise Conflict("People have judged all pairs except those with an accepted machine grade.")
    left_out = sum(key in accepted_pairs and key not in known for key in left.values())
    how = {
        "auto_accept": {"round": round_.name, "judge": accept.judge.name, "bound": accept.bound, "left_out": left_out}
    }
    # A lead could compare the two rounds, so leads are not raters of the new round.
    raters = [user for user in still_raters(round_) if not user.memberships.filter(_leads(round_)).exists()]
    made = rounds.draft_of(round_, chosen, origin=how, actor=actor, raters=raters)
    sentence = (
        f"{actor} created round {made} with the pairs that people must still judge, without "
        f"{amount(left_out, 'pair')} accepted from {accept.judge}"
    )
    audit.record("auto_accept.draft_round", sentence, actor=actor, target=made)
    return made


def _leads(round_: Round) -> Q:
    return Q(collection=round_.collection_id, role=Role.LEAD)


def _run(round_: Round, judge: Judge) -> JudgeRun | None:
    return judge.runs.filter(round=round_).select_related("job").first()


def _graded_since(accept: AutoAccept) -> int:
    lowest = accept.round.scale.values()[0]
    rows = MachineJudgment.objects.filter(judge=accept.judge_id, pair__round=accept.round_id, grade=lowest)
    return rows.filter(created_at__gt=accept.created_at).count()


def _status(round_: Round, judge: Judge, bound: float, *, looks: int) -> Status:
    run = _run(round_, judge)
    if run is None:
        reason = "The judge has not run in this round, so there are no grades to accept."
        return Status(False, reason, Confirmed())
    confirmed = _confirmed(round_, judge, run, looks)
    if cost.money(judge, round_).renamed:
        return Status(False, "Not in effect: a model answered under more than one name.", confirmed)
    if confirmed.judged < LEAST:
        reason = (
            f"People have judged {amount(confirmed.judged, 'pair')} of the audit slice with this grade. "
            f"At least {LEAST} are needed."
        )
        return Status(False, reason, confirmed)
    outside = confirmed.population - confirmed.sampled
    if confirmed.low is None:
        return Status(
            False, "All pairs with this grade are in the audit slice, so there is nothing to accept.", confirmed
        )
    reason = f"people confirmed {confirmed.right:,} of the {amount(confirmed.sampled, 'pair')} in the audit slice"
    if not confirmed.whole:
        reason += (
            f" ({amount(confirmed.sampled - confirmed.judged, 'is', 'are')} not judged yet "
            f"and {agree(confirmed.sampled - confirmed.judged, 'counts', 'count')} against it)"
        )
    reason += f"; of the {amount(outside, 'other pair')}, at least {confirmed.low:.1%} are not relevant"
    if confirmed.low < bound:
        return Status(False, f"Not in effect: {reason}, which is below the bound of {bound * 100:g}%.", confirmed)
    return Status(True, f"In effect: {reason}.", confirmed)


def _named(models: Sequence[str]) -> str:
    """Return the names of the models that answered, as the row stores them."""
    return ", ".join(models)[:200]


def _confirmed(round_: Round, judge: Judge, run: JudgeRun, looks: int) -> Confirmed:
    """Return the numbers, with the confidence that is left for this judge and test."""
    lowest, from_ = round_.scale.values()[0], round_.scale.relevant_from
    inside, people = judged.slice_keys(judge, round_), judged.labels_of(round_)
    given = [key for key, grade in judged.grades_of(judge, round_).items() if grade == lowest]
    sampled = [key for key in given if key in inside]
    grades = [people[key] for key in sampled if key in people]
    right = sum(grade < from_ for grade in grades)
    before = round_.judge_runs.filter(pk__lt=run.pk).count()
    low = right_outside(len(given), len(sampled), right, alpha_of(before + 1, looks))
    return Confirmed(len(given), len(sampled), len(grades), right, low)
