"""Call log of pairwise comparisons: store what models answered, and look up answers that exist already.

Comparisons that count for scores and canaries that count for none have separate tables; both belong to the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Sum

from judgments.battle_draws import Drawn
from judgments.core.storable import storable
from judgments.judges.answers import Reply
from judgments.judges.asking import Answered, key_of, prompt_sha256
from judgments.judges.contract import Context, Outcome
from judgments.judges.model_judge import ModelJudge, again
from judgments.judges.pairwise import Pairwise
from judgments.models import Battle, BattleCanary, BattleRun
from judgments.providers.protocol import Endpoint

Table = type[Battle] | type[BattleCanary]
# So many keys are looked up by one question: fewer than SQLite takes.
KEYS = 5_000
SAME = ("key", "prompt_sha256", "model_asked", "model_answered", "outcome", "reason", "raw", "stop", "left_out")


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two documents that are asked about.

    Parameters
    ----------
    row : list of int
        Who meets whom, as drawn.
    context : Context
        The texts in the order shown.
    more : mapping
        What the row of a canary holds besides.
    """

    row: Drawn
    context: Context
    more: Mapping[str, Any] = field(default_factory=dict)


# Whose each key is that can come up.
Owners = Mapping[str, Sequence[Meeting]]


def spent(run: BattleRun) -> tuple[float, int]:
    """Dollars and calls of a run by its ledger: what a killed sitting did not add up is in it all the same."""
    usd, calls = 0.0, 0
    for table in (Battle, BattleCanary):
        told = table.objects.filter(run=run, reused=False).aggregate(calls=Count("pk"), usd=Sum("cost_usd"))
        usd, calls = usd + (told["usd"] or 0.0), calls + told["calls"]
    return usd, calls


def owners_of(asker: Pairwise, endpoint: Endpoint, meetings: Sequence[Meeting]) -> Owners:
    """Whose each key is: that of the question, and those of its two repetitions."""
    found: dict[str, list[Meeting]] = {}
    for one in meetings:
        for key in keys_of(asker, endpoint, one.context):
            found.setdefault(key, []).append(one)
    return found


def keys_of(asker: ModelJudge, endpoint: Endpoint, context: Context) -> list[str]:
    """The keys under which answers about a context are found: those of the questions and of their repetitions."""
    found: list[str] = []
    for question in asker.questions(context):
        repeated = [again(question, Outcome(name)) for name in ("truncated", "unparseable")]
        found += [key_of(endpoint, one) for one in (question, *repeated) if one is not None]
    return found


class BattlesKept:
    """The rows of one table of one run.

    Parameters
    ----------
    run : BattleRun
        Whose.
    table : type
        `Battle`, or `BattleCanary`.
    owners : Owners
        Whose each answer is.
    """

    def __init__(self, run: BattleRun, table: Table, owners: Owners) -> None:
        self._run, self._table, self._owners = run, table, owners
        self._new: list[Any] = []

    def known(self) -> dict[str, Reply]:
        """What was answered before, in this run or another one of the collection; the latter's are kept here too."""
        keys, found, copies = list(self._owners), {}, []
        here = self._table.objects.filter(run__round__collection=self._run.round.collection_id)
        for begin in range(0, len(keys), KEYS):
            rows = here.filter(key__among=keys[begin : begin + KEYS]).exclude(outcome="transport_error")
            own: set[tuple[str, int, int, bool]] = set()
            answers: dict[str, Any] = {}
            for row in rows:
                answers.setdefault(row.key, row)
                if row.run_id == self._run.pk:
                    own.add((row.key, row.a_id, row.b_id, row.swapped))
            for key, row in answers.items():
                stop: Any = row.stop
                found[key] = Reply(
                    row.raw, stop, row.tokens_in, row.tokens_out, row.cost_usd, row.model_answered, row.seconds
                )
                for one in self._owners[key]:
                    if (key, one.row[0], one.row[1], bool(one.row[2])) not in own:
                        copies.append(self._copy(row, one))
        self._table.objects.bulk_create(copies, ignore_conflicts=True)
        return found

    def answer(self, call: Answered, model: str) -> None:
        """One answer; other documents with the same texts are answered with it."""
        for at, one in enumerate(self._owners[call.question.key]):
            self._new.append(self._row(call, model, one, reused=at > 0))

    def together(self, work: Callable[[], None]) -> None:
        """Do some work, and keep all the answers that it hands in: committed when this returns."""
        work()
        rows, self._new = self._new, []
        if not rows:
            return
        try:
            with transaction.atomic():
                self._table.objects.bulk_create(rows)
        except IntegrityError:
            # Two sittings at once are possible while a lease runs out: what the other one wrote down stays as it is.
            self._table.objects.bulk_create(rows, ignore_conflicts=True)

    def _row(self, call: Answered, model: str, one: Meeting, *, reused: bool) -> Any:
        a, b, turned = one.row
        outcome, reply = call.outcome, call.reply
        score = outcome.preference
        return self._table(
            run=self._run,
            a_id=a,
            b_id=b,
            swapped=bool(turned),
            key=call.question.key,
            prompt_sha256=prompt_sha256(call.question),
            model_asked=model,
            model_answered=storable(reply.model)[:200],
            outcome=outcome.name,
            score=score if score is None else (-score if turned else score) + 0.0,
            reason=storable(outcome.rationale),
            raw=storable(outcome.raw),
            stop=reply.stop,
            reused=reused,
            tokens_in=None if reused else reply.tokens_in,
            tokens_out=None if reused else reply.tokens_out,
            cost_usd=0.0 if reused else reply.cost_usd,
            cost_estimated=reply.estimated and not reused,
            left_out=list(reply.left_out),
            seconds=0.0 if reused else reply.seconds,
            **one.more,
        )

    def _copy(self, row: Any, one: Meeting) -> Any:
        """The answer to the same question, for this battle."""
        a, b, turned = one.row
        score = row.score if row.score is None or row.swapped == bool(turned) else -row.score
        return self._table(
            run=self._run,
            a_id=a,
            b_id=b,
            swapped=bool(turned),
            score=score,
            reused=True,
            cost_usd=0.0,
            **{name: getattr(row, name) for name in SAME},
            **one.more,
        )
