"""Export of a round's pairs as pairs.jsonl, which `assay judge` and `assay zelo` read."""

from __future__ import annotations

import io
from collections.abc import Iterator

from assay.formats import pairs_jsonl
from assay.formats.row_types import PairRow
from judgments.machines.judge_runs.estimate import context_of
from judgments.models import Pair, Round

AT_ONCE = 500


def lines(round_: Round) -> Iterator[bytes]:
    """Yield the file in parts: the input of a judge for each pair, in the order of the round."""
    rows = round_.pairs.select_related("query", "document").order_by("position")
    some: list[PairRow] = []
    for pair in rows.iterator(chunk_size=AT_ONCE):
        some.append(_row(pair))
        if len(some) == AT_ONCE:
            yield _written(some)
            some = []
    yield _written(some)


def _written(rows: list[PairRow]) -> bytes:
    stream = io.BytesIO()
    pairs_jsonl.write(rows, stream)
    return stream.getvalue()


def _row(pair: Pair) -> PairRow:
    context = context_of(pair)
    return PairRow(pair.query.query_id, pair.document.doc_id, context.query, context.narrative, context.text)
