"""Call log of pairwise comparisons: store models' answers, and look up existing ones.

Comparisons that count for scores and probes that do not have separate tables; both belong to the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.core.text_rules import storable
from assay.llm.judge import Context
from assay.llm.judges.bulk_judging import Answered, prompt_sha256
from assay.llm.judges.pairwise import Pairwise
from assay.llm.model_reply import Reply
from assay.llm.providers.protocol import Endpoint
from judgments.machines.judge_runs.call_log import keys_of, store_once
from judgments.machines.pairwise.pair_selection import Drawn
from judgments.models import Battle, BattleCanary, BattleRun
from judgments.models.fields import rows_among

Table = type[Battle] | type[BattleCanary]
SAME = ("key", "prompt_sha256", "requested_model", "model_answered", "outcome", "reason", "raw", "stop", "left_out")


@dataclass(frozen=True, slots=True)
class Meeting:
    """A comparison of two documents, ready to be sent."""

    row: Drawn
    context: Context
    more: Mapping[str, Any] = field(default_factory=dict)


# The comparisons that each possible key belongs to.
Owners = Mapping[str, Sequence[Meeting]]


def owners_of(asker: Pairwise, endpoint: Endpoint, meetings: Sequence[Meeting]) -> Owners:
    """Return the comparisons of each key, including the keys of repeated questions."""
    owners: dict[str, list[Meeting]] = {}
    for one in meetings:
        for key in keys_of(asker, endpoint, one.context):
            owners.setdefault(key, []).append(one)
    return owners


class BattleLog:
    """The rows of one table of one run."""

    def __init__(self, run: BattleRun, table: Table, owners: Owners) -> None:
        self._run, self._table, self._owners = run, table, owners
        self._new: list[Any] = []

    def known(self) -> dict[str, Reply]:
        """Return stored answers of the collection, and copy those of other runs into this one."""
        here = self._table.objects.filter(run__round__collection=self._run.round.collection_id)
        own: set[tuple[str, int, int, bool]] = set()
        answers: dict[str, Any] = {}
        for row in rows_among(here.exclude(outcome="transport_error"), "key", self._owners):
            answers.setdefault(row.key, row)
            if row.run_id == self._run.pk:
                own.add((row.key, row.a_id, row.b_id, row.swapped))
        copies = [
            self._copy(row, one)
            for key, row in answers.items()
            for one in self._owners[key]
            if (key, one.row[0], one.row[1], bool(one.row[2])) not in own
        ]
        self._table.objects.bulk_create(copies, ignore_conflicts=True)
        return {
            key: Reply(row.raw, row.stop, row.tokens_in, row.tokens_out, row.cost_usd, row.model_answered, row.seconds)
            for key, row in answers.items()
        }

    def answer(self, call: Answered, model: str) -> None:
        """Add one answer, which also answers other comparisons of the same texts."""
        for at, one in enumerate(self._owners[call.question.key]):
            self._new.append(self._row(call, model, one, reused=at > 0))

    def commit_after(self, work: Callable[[], None]) -> None:
        """Run some work and store all the answers that it adds; they are committed when this returns."""
        work()
        rows, self._new = self._new, []
        store_once(rows)

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
            requested_model=model,
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
        """Return a stored answer to the same question as a row of this comparison."""
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
