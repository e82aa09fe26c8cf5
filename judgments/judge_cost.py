"""Cost of a judge's answers in a round, the pairs it graded, and the names under which models answered.

The cost of a judge made of pairwise comparisons covers the comparisons that were answered when it was made: others
are part of no grade of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from judgments.judge_kinds import BATTLES
from judgments.models import Battle, BattleCanary, BattleRun, Judge, ModelCall, Round
from judgments.models.battle import AnsweredBattle


@dataclass(frozen=True)
class Money:
    """What a judge's calls in a round took; what was found in its ledger cost nothing again.

    Parameters
    ----------
    calls, failed : int
        Made, and those of them to which no answer came.
    tokens_in, tokens_out : int
        Over all calls.
    usd : float or None
        None where no call has a price.
    seconds : float or None
        A call, on average.
    judged : int
        Pairs with an answer of the judge.
    models : tuple of str
        The names that came with the answers.
    renamed : tuple of (str, tuple of str)
        The models that answered under more than one name: what was asked for, and the names.
    estimated : float
        Dollars of calls whose cost, or a part of it, nobody counted: booked is the most that it can have been.
    left_out : tuple of str
        What models were not told since they take none: temperature, seed, schema, probabilities.
    """

    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    usd: float | None
    seconds: float | None
    judged: int
    models: tuple[str, ...]
    renamed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    estimated: float = 0.0
    left_out: tuple[str, ...] = ()

    @property
    def per_thousand(self) -> float | None:
        """Dollars for a thousand pairs."""
        return None if self.usd is None or not self.judged else self.usd * 1_000 / self.judged


def money(judge: Judge, round_: Round) -> Money:
    """What the judge's answers for this round took, its canaries among them."""
    return _money(_tables(judge, round_), judge.judgments.filter(pair__round=round_).count())


def of_battles(run: BattleRun) -> Money:
    """What the battles of a run took, those with planted text among them; no pair is graded by them."""
    return _money([Battle.objects.filter(run=run), BattleCanary.objects.filter(run=run)], 0)


def _money(tables: Sequence[QuerySet[Any]], judged: int) -> Money:
    sums = [one for rows in tables for one in _sums(rows)]
    names = _names(tables)
    calls, seconds = sum(one["calls"] for one in sums), sum(one["seconds"] or 0.0 for one in sums)
    return Money(
        calls,
        sum(one["failed"] for one in sums),
        sum(one["read"] or 0 for one in sums),
        sum(one["written"] or 0 for one in sums),
        _usd(sums),
        seconds / calls if calls else None,
        judged,
        tuple(sorted({name for found in names.values() for name in found})),
        tuple((model, tuple(sorted(found))) for model, found in sorted(names.items()) if len(found) > 1),
        sum(one["estimated"] or 0.0 for one in sums),
        _left_out(tables),
    )


def _tables(judge: Judge, round_: Round) -> list[QuerySet[Any]]:
    """Its answers: about single documents, or in all battles that its grades stand on and in their canaries."""
    if judge.kind != BATTLES:
        return [ModelCall.objects.filter(judge=judge, run__round=round_)]
    of = {"run__round": round_, "run__uuid": judge.parameters.get("run"), "at__lte": judge.created_at}
    return [Battle.objects.filter(**of), BattleCanary.objects.filter(**of)]


def _sums(rows: QuerySet[Any]) -> Iterable[dict[str, Any]]:
    """By the model that was asked. An answer that was known already was no call."""
    asked = Q(reused=False) if issubclass(rows.model, AnsweredBattle) else Q()
    return rows.order_by().values("model_asked").annotate(
        calls=Count("pk", filter=asked),
        failed=Count("pk", filter=Q(outcome="transport_error")),
        read=Sum("tokens_in"),
        written=Sum("tokens_out"),
        usd=Sum("cost_usd"),
        estimated=Sum("cost_usd", filter=Q(cost_estimated=True)),
        seconds=Sum("seconds", filter=asked),
    )  # fmt: skip


def _usd(sums: Sequence[Mapping[str, Any]]) -> float | None:
    """Over all models; None where one of those that answered has no price: a part is no cost."""
    answered = [one for one in sums if one["calls"] > one["failed"] or one["usd"] is not None]
    if not answered or any(one["usd"] is None for one in answered):
        return None
    return float(sum(one["usd"] for one in answered))


def _left_out(tables: Iterable[QuerySet[Any]]) -> tuple[str, ...]:
    """Of all calls together; one after the other each model is told what it takes."""
    every = [rows.order_by().values_list("left_out", flat=True).distinct() for rows in tables]
    return tuple(sorted({name for rows in every for told in rows for name in told}))


def _names(tables: Iterable[QuerySet[Any]]) -> dict[str, set[str]]:
    """The names that answered, by the one that was asked for."""
    found: dict[str, set[str]] = {}
    for rows in tables:
        answered = rows.exclude(model_answered="").order_by().values_list("model_asked", "model_answered")
        for model, name in answered.distinct():
            found.setdefault(model, set()).add(name)
    return found
