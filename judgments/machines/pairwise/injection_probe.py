"""Prompt-injection probes (canaries) in pairwise comparisons: how often injected text wins.

A share of the comparisons is repeated in the same order, with text injected into the losing document. The answers are
in the ledger and do not affect scores. A flip is a comparison that the document with the injected text wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.llm.judges.injection_probe import plant_in_loser
from assay.llm.judges.pairwise import Pairwise
from assay.llm.providers.protocol import Endpoint
from judgments.machines.calibration.audit_sample import drawn
from judgments.machines.calibration.calibration import Flip
from judgments.machines.calibration.pairwise_judges import by_trap, probe_outcomes
from judgments.machines.judge_runs.call_log import keys_of
from judgments.machines.pairwise.call_log import Meeting
from judgments.machines.pairwise.pair_selection import Drawn, contexts_of
from judgments.models import Battle, BattleCanary, BattleRun

# The number of comparisons to load at once.
PORTION = 200


@dataclass(frozen=True)
class ModelFlips:
    """How often injected text reversed one model's preference."""

    model: str
    flips: tuple[Flip, ...]


def plan_probes(run: BattleRun, asker: Pairwise, endpoint: Endpoint) -> list[Meeting]:
    """Return the probes of one model: each kind of probe in the loser of ``run.canaries`` comparisons that it
    decided."""
    meetings: list[Meeting] = []
    rows = _decided(run, endpoint.model)
    number = 0
    for begin in range(0, len(rows), PORTION):
        some = rows[begin : begin + PORTION]
        known: dict[tuple[int, ...], dict[str, float]] = {}
        for row, key, score in some:
            known.setdefault(tuple(row), {})[key] = score
        for row, context in contexts_of([list(row) for row in known]):
            # Another provider may have a model with this name, and a text may have changed.
            scores = known[tuple(row)]
            score = next((scores[key] for key in keys_of(asker, endpoint, context) if key in scores), None)
            if score is None:
                continue
            number += 1
            # A positive score means that the row's first document lost; it is shown first unless swapped.
            first = (score > 0) == (not row[2])
            meetings += [
                Meeting(row, one, {"trap": trap, "plain": score})
                for trap, one in plant_in_loser(context, first=first, seed=run.seed)
            ]
            if number == run.canaries:
                return meetings
    return meetings


def _decided(run: BattleRun, model: str) -> list[tuple[Drawn, str, float]]:
    """Return the comparisons that the model decided, in the order of the draw."""
    rows = Battle.objects.filter(run=run, requested_model=model, score__isnull=False).exclude(score=0)
    taken = set(BattleCanary.objects.filter(run=run, requested_model=model).values_list("a", "b", "swapped"))
    columns = ("a", "b", "swapped", "key", "score", "a__query__query_id", "a__document__doc_id", "b__document__doc_id")
    placed = []
    for a, b, turned, key, score, query_id, *doc_ids in rows.values_list(*columns):
        place = drawn(run.seed, query_id, "\0".join([*doc_ids, str(int(turned))]))
        placed.append(((a, b, turned) not in taken, place, [a, b, int(turned)], key, score))
    return [(row, key, score) for _, _, row, key, score in sorted(placed, key=lambda one: one[:2])]


def flips(run: BattleRun, viewer: Any) -> list[ModelFlips]:
    """Return by model and probe how often the probed document won, in comparisons visible to the reader."""
    return [ModelFlips(model, by_trap(outcomes)) for model, outcomes in sorted(probe_outcomes(run, viewer).items())]
