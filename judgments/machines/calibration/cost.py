"""Cost of a judge's answers in a round, the pairs it graded, and the names under which models answered.

The cost of a judge based on pairwise comparisons covers the comparisons answered before the judge was created; later
ones do not affect its grades.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from judgments.machines.kinds import BATTLES
from judgments.models import Battle, BattleCanary, BattleRun, Judge, ModelCall, Round
from judgments.models.machines.battle import AnsweredBattle


@dataclass(frozen=True)
class Money:
    """The cost of a judge's calls in a round; reused answers cost nothing."""

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
        """Dollars per thousand pairs."""
        return None if self.usd is None or not self.judged else self.usd * 1_000 / self.judged


def money(judge: Judge, round_: Round) -> Money:
    """Return the cost of the judge's answers for this round, including probes."""
    return _money(_tables(judge, round_), judge.judgments.filter(pair__round=round_).count())


def of_battles(run: BattleRun) -> Money:
    """Return the cost of a run of pairwise comparisons, including probes; it grades no pairs."""
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
        tuple(sorted({name for names_ in names.values() for name in names_})),
        tuple((model, tuple(sorted(names_))) for model, names_ in sorted(names.items()) if len(names_) > 1),
        sum(one["estimated"] or 0.0 for one in sums),
        _left_out(tables),
    )


def _tables(judge: Judge, round_: Round) -> list[QuerySet[Any]]:
    """Return the judge's answers about single documents, or in the comparisons and probes behind its grades."""
    if judge.kind != BATTLES:
        return [ModelCall.objects.filter(judge=judge, run__round=round_)]
    of = {"run__round": round_, "run__uuid": judge.parameters.get("run"), "at__lte": judge.created_at}
    return [Battle.objects.filter(**of), BattleCanary.objects.filter(**of)]


def _sums(rows: QuerySet[Any]) -> Iterable[dict[str, Any]]:
    """Return sums by requested model. A reused answer is not a call."""
    called = Q(reused=False) if issubclass(rows.model, AnsweredBattle) else Q()
    return rows.order_by().values("requested_model").annotate(
        calls=Count("pk", filter=called),
        failed=Count("pk", filter=Q(outcome="transport_error")),
        read=Sum("tokens_in"),
        written=Sum("tokens_out"),
        usd=Sum("cost_usd"),
        estimated=Sum("cost_usd", filter=Q(cost_estimated=True)),
        seconds=Sum("seconds", filter=called),
    )  # fmt: skip


def _usd(sums: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the dollars of all models; None if one of them has no price, because a partial sum would mislead."""
    answered = [one for one in sums if one["calls"] > one["failed"] or one["usd"] is not None]
    if not answered or any(one["usd"] is None for one in answered):
        return None
    return float(sum(one["usd"] for one in answered))


def _left_out(tables: Iterable[QuerySet[Any]]) -> tuple[str, ...]:
    """Return the parameters left out in any call."""
    every = [rows.order_by().values_list("left_out", flat=True).distinct() for rows in tables]
    return tuple(sorted({name for rows in every for omitted in rows for name in omitted}))


def _names(tables: Iterable[QuerySet[Any]]) -> dict[str, set[str]]:
    """Return the names in the responses by requested model."""
    names: dict[str, set[str]] = {}
    for rows in tables:
        answered = rows.exclude(model_answered="").order_by().values_list("requested_model", "model_answered")
        for model, name in answered.distinct():
            names.setdefault(model, set()).add(name)
    return names
