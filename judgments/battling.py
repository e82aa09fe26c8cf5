"""Start, pause, resume and extend pairwise comparisons between a round's documents, within caps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Max

from judgments import audit, battle_draws, battle_estimate, battle_further, examples, machine_runs
from judgments.battle_draws import Choice
from judgments.battle_estimate import Estimate
from judgments.core.amounts import amount
from judgments.core.errors import Conflict
from judgments.models import BattleRun, Provider, Round, User

KIND = "battles"


def look(round_: Round, choice: Choice) -> Estimate:
    """What the battles would take; nothing is asked and nothing is stored.

    Raises
    ------
    NotValid
        By field: models that nobody has, queries that the round has not, numbers out of bounds.
    """
    choice.check()
    return battle_estimate.estimate(round_, choice, battle_draws.draw(round_, choice))


@transaction.atomic
def start(round_: Round, choice: Choice, *, actor: User, cap_usd: float | None, cap_calls: int | None) -> BattleRun:
    """Let models fight battles between the documents of the round's queries, as a job.

    Parameters
    ----------
    round_ : Round
        In any state: a battle takes no slot and counts for nothing by itself.
    choice : Choice
        Which models, and how the battles are drawn.
    actor : User
        The lead who asks for it.
    cap_usd, cap_calls : float, int or None
        Where it stops, over all models together; one of them at least.

    Raises
    ------
    NotValid
        As `look`, and by field for caps.
    NotAllowed
        The actor may not read the round's guidelines yet, which a model's answers could repeat.
    Conflict
        No query has two documents with a text.
    """
    choice.check()
    examples.check_readable(actor, round_.guidelines)
    machine_runs.check_caps(cap_usd, cap_calls, of="Battles need")
    _check_prices(choice.ensemble, cap_usd)
    drawn = battle_draws.draw(round_, choice)
    if not drawn.battles:
        raise Conflict("No query of the round has two documents with a text, so nobody can meet.")
    # Numbers are given one after the other: whoever draws at the same moment waits.
    Round.objects.select_for_update(of=("self",)).get(pk=round_.pk)
    last = round_.battle_runs.aggregate(last=Max("number"))["last"] or 0
    run = BattleRun.objects.create(
        round=round_,
        number=last + 1,
        ensemble=[battle_draws.member_of(provider, model) for provider, model in choice.ensemble],
        told=battle_draws.told_of(round_, choice.seed, choice.template),
        prompt=choice.prompt.version if choice.prompt is not None else None,
        cycles=choice.cycles,
        both=choice.both,
        most=choice.most,
        seed=choice.seed,
        drawn=drawn.battles,
        battles=len(drawn.battles),
        cap_usd=cap_usd,
        cap_calls=cap_calls,
        canaries=choice.canaries,
        audit_share=choice.audit_share,
        estimate=battle_estimate.estimate(round_, choice, drawn).as_json(),
        created_by=actor,
    )
    number = amount(len(choice.ensemble), "model")
    sentence = f"{actor} let {number} fight {amount(run.battles, 'battle')} in round {round_}"
    caps: dict[str, Any] = {"cap_usd": cap_usd, "cap_calls": cap_calls}
    audit.record("battling.start", sentence, actor=actor, collection=round_.collection, target=run, **caps)
    queue(run, actor)
    return run


@transaction.atomic
def pause(run: BattleRun, *, actor: User) -> None:
    """Ask it to stop once the answers in flight are there.

    Raises
    ------
    Conflict
        It is not at work.
    """
    if not machine_runs.ask_to_pause(run):
        raise Conflict("These battles are not being fought right now.")
    _record("pause", f"{actor} paused {run} in round {run.round}", run, actor)


@transaction.atomic
def go_on(
    run: BattleRun,
    *,
    actor: User,
    cap_usd: float | None = None,
    cap_calls: int | None = None,
    canaries: int | None = None,
) -> BattleRun:
    """Ask what has no answer yet; what was answered is never asked again.

    Parameters
    ----------
    run : BattleRun
        One that is not at work.
    actor : User
        Who asks for it.
    cap_usd, cap_calls : float, int or None
        Other caps over all that was ever spent in this run; None leaves each as it is.
    canaries : int or None
        On how many battles of each model in all; None leaves it.

    Raises
    ------
    Conflict
        It is at work, or a provider is gone or elsewhere.
    NotValid
        A cap that is used up already, or that a model without a price cannot keep; too many canaries.
    """
    run = _locked(run)
    members = ((battle_draws.provider_of(run.round, member), member["model"]) for member in run.ensemble)
    _check_prices(members, cap_usd)
    machine_runs.change(run, cap_usd, cap_calls, canaries)
    _record("go_on", f"{actor} went on with {run} in round {run.round}", run, actor)
    queue(run, actor)
    return run


def look_further(run: BattleRun, number: int) -> Estimate:
    """What the battles that `further` would add would take; nothing is asked and nothing is added.

    Raises
    ------
    NotValid, Conflict
        As `further`.
    """
    _check_idle(run)
    return battle_estimate.of_further(run, battle_further.draw(run, number))


@transaction.atomic
def further(run: BattleRun, number: int, *, actor: User) -> int:
    """Add the battles that would make the scores surer soonest, and fight them within the caps that there are.

    Parameters
    ----------
    run : BattleRun
        One that is not at work and has answers.
    number : int
        How many of each query at most.
    actor : User
        Who asks for it.

    Returns
    -------
    int
        How many were added: fewer where nearly all have met.

    Raises
    ------
    NotValid
        The number is out of bounds, or the run would hold too many.
    Conflict
        It is at work, nobody has fought yet, or all have met.
    """
    run = _locked(run)
    added = battle_further.draw(run, number).battles
    run.drawn += added
    run.battles = len(run.drawn)
    run.save(update_fields=["drawn", "battles"])
    sentence = f"{actor} added {amount(len(added), 'battle')} to {run} in round {run.round}"
    _record("further", sentence, run, actor)
    queue(run, actor)
    return len(added)


def unanswered(run: BattleRun) -> int:
    """How many answers are still to come: of each model one to each battle. A file has all that it has."""
    if not run.ensemble:
        return 0
    rows = run.fought.exclude(outcome="transport_error").order_by()
    return max(0, run.battles * len(run.ensemble) - rows.values("model_asked", "a", "b", "swapped").distinct().count())


def _locked(run: BattleRun) -> BattleRun:
    """The run, held until the act is through, if it is not at work and its providers are where they were."""
    rows = BattleRun.objects.select_for_update(of=("self",)).select_related("round__collection", "job")
    found = rows.get(pk=run.pk)
    _check_idle(found)
    return found


def _check_idle(run: BattleRun) -> None:
    if not machine_runs.is_over(run):
        raise Conflict("These battles are being fought. Pause them first.")
    if not run.ensemble:
        raise Conflict("These battles came from a file: there is no model to be asked. Draw other battles.")
    for member in run.ensemble:
        battle_draws.provider_of(run.round, member)


def queue(run: BattleRun, actor: User | None, *, woken: int = 0) -> None:
    """Put an attempt in line; `woken` counts those in a row that nobody asked for."""
    machine_runs.queue(run, KIND, f"{str(run).capitalize()} in {run.round}", actor=actor, woken=woken)


def _record(verb: str, sentence: str, run: BattleRun, actor: User) -> None:
    audit.record(f"battling.{verb}", sentence, actor=actor, collection=run.round.collection, target=run)


def _check_prices(members: Iterable[tuple[Provider, str]], cap_usd: float | None) -> None:
    if cap_usd is not None:
        for provider, model in members:
            machine_runs.check_price(provider, model)
