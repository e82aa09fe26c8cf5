"""Export of a judge's answers as labels.jsonl, which `assay usefulness` and `assay ensemble` read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from assay.core.errors import Waits
from assay.core.text_rules import amount
from assay.formats import labels_jsonl
from assay.formats.labels_jsonl import MachineLabel
from judgments.labels import grade_visibility
from judgments.models import Judge, MachineJudgment, Round
from judgments.models.machines.machine import UNDECIDED
from judgments.web.downloads import file_parts

AT_ONCE = 1_000


def lines(judge: Judge, round_: Round, viewer: Any) -> Iterator[bytes]:
    """Yield the file in parts: every answer except undecided ones of an ensemble, in the round's order."""
    hidden = grade_visibility.pairs_with_hidden_grades(viewer, round_).count()
    if hidden:
        raise Waits(
            f"You may still grade {amount(hidden, 'pair')} of this round. You can download the file afterwards."
        )
    rows = judge.judgments.filter(pair__round=round_).exclude(outcome=UNDECIDED)
    rows = rows.select_related("pair__query", "pair__document", "call").order_by("pair__position")
    return file_parts(map(partial(_label, judge), rows.iterator(chunk_size=AT_ONCE)), labels_jsonl.write, AT_ONCE)


def _label(judge: Judge, row: MachineJudgment) -> MachineLabel:
    call = row.call
    return MachineLabel(
        row.pair.query.query_id,
        row.pair.document.doc_id,
        row.outcome,
        row.grade,
        judge=judge.kind,
        model=(call.model_answered if call is not None else "") or judge.model,
        prompt_sha256=judge.prompt_sha256,
        parameters=judge.parameters,
        probabilities=row.probabilities,
        rationale=row.rationale,
        raw=row.raw,
        tokens_in=call.tokens_in if call is not None else None,
        tokens_out=call.tokens_out if call is not None else None,
        cost_usd=call.cost_usd if call is not None else None,
        usefulness=row.usefulness,
    )
