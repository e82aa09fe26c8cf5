"""Triplets of a query, a relevant and an irrelevant document, for sentence-transformers and FlagEmbedding.

FlagEmbedding reads one query per line with all of its texts (the README of its fine-tuning examples);
sentence-transformers reads one triplet per line (its dataset overview), and takes every column as a text: select the
three columns before training, or write without ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.core.text_rules import text_id
from assay.formats.format import Format
from assay.formats.grade_cells import checked_id
from assay.formats.json_lines import Element, id_text, is_number, note_unknown, row_reader, write_objects
from assay.formats.queries import checked_query
from assay.formats.reader import note_unusual
from assay.formats.row_types import Passage, TripletRow
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

FLAT, FLAG = "triplets-jsonl", "flagembedding-jsonl"
_FLAT_EXAMPLE = (
    '{"query": "running shoes", "positive": "A light shoe for dry paths.", "negative": "A bag for shoes.", '
    '"query_id": "q001", "positive_id": "doc-abc", "negative_id": "doc-xyz"}\n'
    '{"query": "running shoes", "positive": "A light shoe for dry paths.", "negative": "Shoe laces.", '
    '"query_id": "q001", "positive_id": "doc-abc", "negative_id": "doc-klm", "negative_judged": false}\n'
)
_FLAG_EXAMPLE = (
    '{"query": "running shoes", "pos": ["A light shoe for dry paths."], "neg": ["A bag for shoes.", "Shoe laces."], '
    '"query_id": "q001", "pos_id": ["doc-abc"], "neg_id": ["doc-xyz", "doc-klm"], "neg_judged": [true, false]}\n'
    '{"query": "tent", "pos": ["A tent for two."], "neg": ["A tarpaulin."], "pos_scores": [3], "neg_scores": [0], '
    '"query_id": "q002", "pos_id": ["doc-mno"], "neg_id": ["doc-pqr"]}\n'
)
_FLAT_KEYS = {"query", "anchor", "positive", "negative", "query_id", "positive_id", "negative_id", "negative_judged"}
_FLAG_KEYS = {
    *("query", "pos", "neg", "query_id", "pos_id", "neg_id", "pos_scores", "neg_scores", "neg_judged"),
    *("prompt", "type"),
}
# Keys of FlagEmbedding that are passed on unchanged.
_MORE = ("prompt", "type")


def _write_flat(rows: Iterable[TripletRow], stream: BinaryIO, *, ids: bool = True) -> Written:
    """Write one line for each positive and negative of a query; ``ids`` is False for files of only three texts."""
    return write_objects((one for row in checked(rows) for one in _triplets(row, ids)), stream)


def _triplets(row: TripletRow, ids: bool) -> Iterator[dict[str, Any]]:
    for positive in row.positives:
        for negative in row.negatives:
            of: dict[str, Any] = {"query": row.query, "positive": positive.text, "negative": negative.text}
            if ids:
                of |= {"query_id": row.query_id, "positive_id": positive.doc_id, "negative_id": negative.doc_id}
                of |= {} if negative.judged else {"negative_judged": False}
            yield of


def _write_flag(rows: Iterable[TripletRow], stream: BinaryIO, *, ids: bool = True) -> Written:
    """Write one line for each query, with adjacent rows of a query combined."""
    combined = (_combined(list(group)) for _, group in groupby(checked(rows), key=lambda row: (row.query_id, row.more)))
    return write_objects((_as_flag(row, ids) for row in combined), stream)


def _combined(rows: Sequence[TripletRow]) -> TripletRow:
    if len(rows) == 1:
        return rows[0]
    positives = dict.fromkeys(one for row in rows for one in row.positives)
    negatives = dict.fromkeys(one for row in rows for one in row.negatives)
    return replace(rows[0], positives=tuple(positives), negatives=tuple(negatives))


def _as_flag(row: TripletRow, ids: bool) -> dict[str, Any]:
    sides = {"pos": row.positives, "neg": row.negatives}
    of: dict[str, Any] = {"query": row.query} | {name: [one.text for one in side] for name, side in sides.items()}
    scores = {f"{name}_scores": [one.score for one in side] for name, side in sides.items()}
    if all(score is not None for side in scores.values() for score in side):
        of |= {name: [_plain(score) for score in side if score is not None] for name, side in scores.items()}
    of |= row.more
    if ids:
        of |= {"query_id": row.query_id} | {f"{name}_id": [one.doc_id for one in side] for name, side in sides.items()}
        if not all(one.judged for one in row.negatives):
            of["neg_judged"] = [one.judged for one in row.negatives]
    return of


def _plain(score: float) -> float:
    return int(score) if score == int(score) else score


def checked(rows: Iterable[TripletRow]) -> Iterator[TripletRow]:
    """Yield rows in the given order; a negative that is also a positive of its query is refused, in any of its rows."""
    listed = list(rows)
    positives: dict[str, tuple[set[str], set[str]]] = {}
    for row in listed:
        ids, texts = positives.setdefault(row.query_id, (set(), set()))
        ids.update(one.doc_id for one in row.positives)
        texts.update(one.text for one in row.positives)
    for row in listed:
        ids, texts = positives[row.query_id]
        for one in row.negatives:
            if one.doc_id in ids or one.text in texts:
                what = f"query {row.query_id!r}: the negative {one.doc_id!r} is also a positive"
                same = " or has the same text as one" if one.doc_id not in ids else ""
                raise NotValid(f"{what}{same}; correct the judgments, or remove duplicate documents")
        yield row


def _flat(element: Element, tally: Tally) -> tuple[TripletRow, bool]:
    of = element.of
    query = checked_query(of.get("query", of.get("anchor")))
    texts = [checked_text(of.get(name), name) for name in ("positive", "negative")]
    judged = of.get("negative_judged", True)
    if not isinstance(judged, bool):
        raise RowFault("E23", f"negative_judged is {value_kind(judged)}, not true or false")
    ids, numbered = checked_ids(
        [of.get(name) for name in ("query_id", "positive_id", "negative_id")], [query, *texts], element.line, tally
    )
    note_unknown(of, _FLAT_KEYS, element.line, tally)
    row = TripletRow(ids[0], query, (Passage(ids[1], texts[0]),), (Passage(ids[2], texts[1], judged=judged),))
    return _without_leak(replace(row, line=element.line)), numbered


def _flag(element: Element, tally: Tally) -> tuple[TripletRow, bool]:
    of = element.of
    query = checked_query(of.get("query"))
    (query_id,), numbered = checked_ids([of.get("query_id")], [query], element.line, tally)
    sides = []
    for name in ("pos", "neg"):
        texts = [checked_text(text, name) for text in _list(of, name)]
        scores = _listed(of, f"{name}_scores", len(texts))
        if wrong := [one for one in scores if one is not None and not is_number(one)]:
            raise RowFault(
                "E12", f"{name}_scores contains {wrong[0]!r}, not a number", "write one number for each text"
            )
        doc_ids, some = checked_ids(_listed(of, f"{name}_id", len(texts)), texts, element.line, tally)
        numbered |= some
        sides.append([Passage(*one) for one in zip(doc_ids, texts, scores, strict=True)])
    judged = _listed(of, "neg_judged", len(sides[1]), True)
    if wrong := [one for one in judged if not isinstance(one, bool)]:
        raise RowFault("E23", f"neg_judged contains {value_kind(wrong[0])}, not true or false")
    if not sides[0]:
        raise RowFault("E11", "pos is empty", "add a relevant text, or remove the line")
    negatives = tuple(replace(one, judged=known) for one, known in zip(sides[1], judged, strict=True))
    more = {name: checked_text(of[name], name) for name in _MORE if name in of}
    note_unknown(of, _FLAG_KEYS, element.line, tally)
    return _without_leak(TripletRow(query_id, query, tuple(sides[0]), negatives, more, element.line)), numbered


def _without_leak(row: TripletRow) -> TripletRow:
    ids, texts = {one.doc_id for one in row.positives}, {one.text for one in row.positives}
    if leak := next((one for one in row.negatives if one.doc_id in ids or one.text in texts), None):
        raise RowFault("E29", f"the negative {leak.doc_id!r} is also a positive of the query", "remove one of them")
    return row


def checked_text(value: Any, name: str) -> str:
    """Return the text of a document, or raise `RowFault`."""
    if not isinstance(value, str):
        raise RowFault("E23", f"{name} is or contains {value_kind(value)}, not text")
    if not value.strip():
        raise RowFault("E11", f"{name} is or contains an empty text", "add the text, or remove it")
    return value


def _list(of: Mapping[str, Any], name: str) -> list[Any]:
    value = of.get(name)
    if not isinstance(value, list):
        raise RowFault("E23", f"{name} is {value_kind(value)}, not a list")
    return value


def _listed(of: Mapping[str, Any], name: str, size: int, missing: Any = None) -> list[Any]:
    """Return a list with one value for each text; a missing list is one of missing values."""
    if of.get(name) is None:
        return [missing] * size
    values = _list(of, name)
    if len(values) != size:
        raise RowFault("E23", f"{name} has {len(values)} values for {size} texts", "write one for each text")
    return values


def checked_ids(values: Sequence[Any], texts: Sequence[str], line: int, tally: Tally) -> tuple[list[str], bool]:
    """Return the ids of texts, and whether one was a number; a text without an id gets one that depends on it."""
    chosen: list[str] = []
    numbered = False
    for value, text in zip(values, texts, strict=True):
        given, is_number_ = (text_id(text), False) if value is None else id_text(value)
        chosen.append(checked_id(given, "id"))
        numbered |= is_number_
    if numbered:
        tally.once("W42", line, "an id is a number", done="read as text")
    note_unusual(tally, line, *chosen)
    return chosen, numbered


FLAT_FORMAT = Format(
    name=FLAT,
    title="Training triplets, JSONL",
    tool="sentence-transformers",
    kind="triplets",
    description=(
        "A query, a relevant and an irrelevant text per line, as sentence-transformers trains on them "
        "(sbert.net, dataset overview); anchor is also read as query. --set ids=false writes only the texts."
    ),
    read=row_reader(FLAT, _FLAT_EXAMPLE.partition("\n")[0], _flat),
    write=_write_flat,
    example=_FLAT_EXAMPLE,
)
FLAG_FORMAT = Format(
    name=FLAG,
    title="FlagEmbedding training data, JSONL",
    tool="FlagEmbedding",
    kind="triplets",
    description=(
        "A query with lists of relevant and irrelevant texts per line, as FlagEmbedding trains on them (README of its "
        "fine-tuning examples); ids are in separate lists."
    ),
    read=row_reader(FLAG, _FLAG_EXAMPLE.partition("\n")[0], _flag),
    write=_write_flag,
    example=_FLAG_EXAMPLE,
)
