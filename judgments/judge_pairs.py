"""Export of a round's pairs as pairs.jsonl, which `assay judge` and `assay zelo` read."""

from __future__ import annotations

import io
from collections.abc import Iterator

from judgments.formats import pairs_jsonl
from judgments.formats.rows import PairRow
from judgments.judging_estimate import context_of
from judgments.models import Pair, Round

AT_ONCE = 500


def lines(round_: Round) -> Iterator[bytes]:
    """The file, some lines at a time: what a judge in the round is told of each pair, in the round's order.

    No grade is in it, nor who found a document; a document without content has an empty text.
    """
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
    told = context_of(pair)
    return PairRow(pair.query.query_id, pair.document.doc_id, told.query, told.narrative, told.text)
