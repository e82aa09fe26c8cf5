"""How do models fight battles between a round's documents, within caps, watched, paused and gone on with?"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from judgments import audit, battle_draws, jobs
from judgments.battle_draws import Choice, Estimate
from judgments.battle_scores import fought_rows
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotValid
from judgments.judging import not_before
from judgments.models import BattleRun, Provider, Round, User
from judgments.preferences.cycles import swapped
from judgments.preferences.fitting import most_telling

KIND = "battles"
MOST_FURTHER = 1_000
State = BattleRun.State


def look(round_: Round, choice: Choice) -> Estimate:
    """What the battles would take; nothing is asked and nothing is stored.

    Raises
    ------
    NotValid
        By field: models that nobody has, queries that the round has not, numbers out of bounds.
    """
    choice.check()
    return battle_draws.estimate(round_, choice, battle_draws.draw(round_, choice))


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
    Conflict
        No query has two documents with a text.
    """
    choice.check()
    _check_caps(choice, cap_usd, cap_calls)
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
        estimate=battle_draws.estimate(round_, choice, drawn).as_json(),
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
    # Those that wait for a provider are tried again by the clock, unless somebody says no.
    if is_over(run) and run.state != State.DOWN:
        raise Conflict("These battles are not being fought right now.")
    BattleRun.objects.filter(pk=run.pk).update(pause_asked=True)
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
    _change_caps(run, cap_usd, cap_calls)
    if canaries is not None:
        battle_draws.check_canaries(canaries)
        run.canaries = canaries
        run.save(update_fields=["canaries"])
    _record("go_on", f"{actor} went on with {run} in round {run.round}", run, actor)
    queue(run, actor)
    return run


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
    if not 1 <= number <= MOST_FURTHER:
        raise NotValid("How many battles?", {"number": f"From 1 to {MOST_FURTHER:,} of each query."})
    run = _locked(run)
    names, rows = fought_rows(run, None)
    if not any(row.score is not None for row in rows):
        raise Conflict("No battle has an answer yet; what is worth knowing next hangs on those.")
    keys = {name: pk for pk, name in names.items()}
    met = {frozenset(row[:2]) for row in run.drawn}
    answers = [(row.query_id, row.a, row.b, row.score) for row in rows]
    telling = most_telling(answers, number)
    pairs = [(keys[query_id, a], keys[query_id, b]) for query_id, a, b in telling]
    new = [pair for pair in pairs if frozenset(pair) not in met]
    if not new:
        raise Conflict("All documents of these queries have met, or wait to: there is no further battle.")
    if run.battles + len(new) > battle_draws.MOST_BATTLES:
        raise NotValid("Too many battles.", {"number": f"A run holds {battle_draws.MOST_BATTLES:,}."})
    turned, both = swapped(len(new), run.both, seed=run.seed + run.battles)
    added = []
    for (a, b), first, twice in zip(new, turned, both, strict=True):
        added += [[a, b, int(first)], *([[a, b, int(not first)]] if twice else [])]
    run.drawn += added
    run.battles = len(run.drawn)
    run.save(update_fields=["drawn", "battles"])
    sentence = f"{actor} added {amount(len(added), 'battle')} to {run} in round {run.round}"
    _record("further", sentence, run, actor)
    queue(run, actor)
    return len(added)


def is_over(run: BattleRun) -> bool:
    """Whether nobody works on it, also where its job ended without a word."""
    return run.over or run.job is None or run.job.over


def asks(provider: Provider) -> bool:
    """Whether battles that are being fought right now ask this provider."""
    rows = BattleRun.objects.filter(round__collection=provider.collection_id, state__in=[State.WAITING, State.RUNNING])
    here = [run for run in rows.select_related("job").defer("drawn") if not is_over(run)]
    return any(one["provider"] == str(provider.uuid) for run in here for one in run.ensemble)


def state_of(run: BattleRun) -> tuple[str, str]:
    """How it stands, and why in words."""
    if not run.over and is_over(run):
        return State.STOPPED, (run.job.error if run.job is not None else "") or "Its job ended before it did."
    return run.state, run.said


def ended(run: BattleRun, state: str, said: str, *, leave_alone: float = 0.0) -> None:
    """Put on record how an attempt ended, and for how many seconds a provider asked to be left alone."""
    now = timezone.now()
    fields = {"state": state, "said": said[:2_000], "ended_at": now, "not_before": not_before(now, leave_alone)}
    BattleRun.objects.filter(pk=run.pk).update(**fields)


def _locked(run: BattleRun) -> BattleRun:
    """The run, held until the act is through, if it is not at work and its providers are where they were."""
    rows = BattleRun.objects.select_for_update(of=("self",)).select_related("round__collection", "job")
    found = rows.get(pk=run.pk)
    if not is_over(found):
        raise Conflict("These battles are being fought. Pause them first.")
    if not found.ensemble:
        raise Conflict("These battles came from a file: there is no model to be asked. Draw other battles.")
    for member in found.ensemble:
        battle_draws.provider_of(found.round, member)
    return found


def queue(run: BattleRun, actor: User | None, *, woken: int = 0) -> None:
    """Put an attempt in line; `woken` counts those in a row that nobody asked for."""
    title = f"{str(run).capitalize()} in {run.round}"
    parameters = {"run": str(run.uuid), **({"woken": woken} if woken else {})}
    run.job = jobs.start(KIND, title=title, parameters=parameters, collection=run.round.collection, actor=actor)
    run.state, run.said, run.pause_asked, run.ended_at, run.not_before = State.WAITING, "", False, None, None
    run.save(update_fields=["job", "state", "said", "pause_asked", "ended_at", "not_before"])


def _record(verb: str, sentence: str, run: BattleRun, actor: User) -> None:
    audit.record(f"battling.{verb}", sentence, actor=actor, collection=run.round.collection, target=run)


def _change_caps(run: BattleRun, cap_usd: float | None, cap_calls: int | None) -> None:
    for name, cap, used in (("cap_usd", cap_usd, run.spent_usd), ("cap_calls", cap_calls, run.calls)):
        if cap is not None and cap <= used:
            said = f"{used:,.2f} were used already." if name == "cap_usd" else f"{used:,} calls were made already."
            raise NotValid("The cap is below what was used.", {name: said})
    if cap_usd is not None:
        for member in run.ensemble:
            provider = battle_draws.provider_of(run.round, member)
            _check_price(provider.name, member["model"], provider.offered(member["model"]))
    run.cap_usd = run.cap_usd if cap_usd is None else cap_usd
    run.cap_calls = run.cap_calls if cap_calls is None else cap_calls
    run.save(update_fields=["cap_usd", "cap_calls"])


def _check_caps(choice: Choice, cap_usd: float | None, cap_calls: int | None) -> None:
    if cap_usd is None and cap_calls is None:
        said = "Give a limit in dollars, in calls, or both."
        raise NotValid("Battles need a cap.", {"cap_usd": said})
    if cap_usd is not None and not 0 < cap_usd <= 1_000_000:
        raise NotValid("The cap is out of bounds.", {"cap_usd": "Dollars, above 0."})
    if cap_calls is not None and not 0 < cap_calls <= 10_000_000:
        raise NotValid("The cap is out of bounds.", {"cap_calls": "Calls, above 0."})
    if cap_usd is not None:
        for provider, model in choice.ensemble:
            _check_price(provider.name, model, provider.offered(model))


def _check_price(provider: str, model: str, known: dict[str, Any] | None) -> None:
    if known is not None and known["price_in"] is None:
        said = f"{provider} has no price for {model}: give one on its page, or a cap in calls alone."
        raise NotValid(said, {"cap_usd": said})
