"""zbench's ``ai_scores.json``: an object with the answers of its models for each pair.

Each key that ends in ``_score`` is the answer of a model; zbench itself asks three. A pair that zbench drew twice
appears twice, each time with answers of all models. A thought that begins with ``(SWAPPED)`` means that the second
document was shown first; its score is already reversed. A score of 0 without a thought is a call that failed in zbench:
it is read as no score. A score outside -1 to 1 is limited to that range, with a warning (W52).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.core.text_rules import amount
from assay.formats.battles_jsonl import Battle
from assay.formats.format import Format
from assay.formats.json_lines import note_unknown, number, parse, read_id
from assay.formats.reader import note_unusual, reader
from assay.formats.text_lines import Content
from assay.formats.writer import Written, write_text

NAME = "zbench-ai-scores"
# The models that zbench itself asks and needs.
MODELS = ("openai", "gemini", "anthropic")
SWAPPED = "(SWAPPED)\n"
_SCORE = "_score"
EXAMPLE = """{
    "scored_pairs": [
        {
            "pair": {
                "pair_id": "q001-doc-abc-doc-xyz",
                "query_id": "q001",
                "query": "running shoes",
                "document_a": {
                    "document_id": "doc-abc",
                    "metadata": {},
                    "content": "A light shoe for dry paths."
                },
                "document_b": {
                    "document_id": "doc-xyz",
                    "metadata": {},
                    "content": "A bag for shoes."
                }
            },
            "openai_score": {
                "thought": "Only A is a shoe.",
                "score": -0.9
            },
            "gemini_score": {
                "thought": "(SWAPPED)\\nB is a shoe, A holds shoes.",
                "score": -0.8
            },
            "anthropic_score": {
                "thought": "",
                "score": 0.0
            }
        }
    ]
}
"""
_EXPECTED = '{"scored_pairs": [{"pair": {...}, "openai_score": {"thought": "...", "score": -0.9}, ...}]}'


@dataclass(frozen=True, slots=True)
class ZbenchBattle(Battle):
    """One model's answer, with the pair as the file contains it."""

    pair: Mapping[str, Any] = field(default_factory=dict)


def write(rows: Iterable[Battle], stream: BinaryIO) -> Written:
    """Write battles pair by pair, including repeated battles, with the answers of all models in the order given."""
    draws: list[dict[str, Battle]] = []
    opened: dict[tuple[str, str, str], dict[str, Battle]] = {}
    for row in rows:
        if not row.model:
            raise NotValid(f"{NAME} has an answer for each model, but a battle of {row.query_id!r} names none")
        key = (row.query_id, row.a, row.b)
        if key not in opened or row.model in opened[key]:
            opened[key] = {}
            draws.append(opened[key])
        opened[key][row.model] = row
    text = json.dumps({"scored_pairs": [_draw(draw) for draw in draws]}, ensure_ascii=False, indent=4, allow_nan=False)
    write_text(stream, f"{text}\n")
    notes = []
    if any(set(draw) != set(MODELS) for draw in draws):
        notes.append(f"zbench reads only files in which {', '.join(MODELS)} answered each pair")
    bare = sum(not getattr(next(iter(draw.values())), "pair", {}) for draw in draws)
    if bare:
        notes.append(
            f"{amount(bare, 'pair has', 'pairs have')} no query and no contents, because battles do not contain them"
        )
    return Written(sum(map(len, draws)), tuple(notes))


def _draw(draw: Mapping[str, Battle]) -> dict[str, Any]:
    one = next(iter(draw.values()))
    pair = getattr(one, "pair", None) or {
        "pair_id": f"{one.query_id}-{one.a}-{one.b}",
        "query_id": one.query_id,
        "query": "",
        "document_a": {"document_id": one.a, "metadata": {}, "content": ""},
        "document_b": {"document_id": one.b, "metadata": {}, "content": ""},
    }
    answers = {f"{model}{_SCORE}": _answer(row) for model, row in draw.items()}
    return {"pair": dict(pair), **answers}


def _answer(row: Battle) -> dict[str, Any]:
    if row.score is None:
        return {"thought": "", "score": 0.0}
    return {"thought": (SWAPPED if row.swapped else "") + row.reason, "score": row.score}


def _parse(content: Content, tally: Tally) -> Iterator[ZbenchBattle]:
    for place, element in enumerate(_scored_pairs(content, tally)):
        where = f"[{place}]"
        tally.read()
        try:
            query_id, a, b, numbered = _pair(element, tally)
            if not any(key.endswith(_SCORE) for key in element):
                raise RowFault("E23", "no model answered")
        except RowFault as fault:
            tally.reject(fault.code, None, f"{where}: {fault}", fix=fault.fix or tally.expected, column=where)
            continue
        if a == b:
            what = f"{where}: {a!r} is compared with itself, as zbench does if a query has one document"
            tally.once("W53", None, what, done="skipped")
            tally.put("comment")
            continue
        tally.put("header")
        for model in _models(element, where, tally):
            tally.read()
            try:
                row, cut = _battle(element, model, (query_id, a, b))
            except RowFault as fault:
                fix = fault.fix or tally.expected
                tally.reject(fault.code, None, f"{where}: {fault}", fix=fix, column=f"{where}.{model}_score")
                continue
            if cut:
                what = f"{where}: the score of {model} is outside -1 to 1"
                tally.once("W52", None, what, done="limited to -1 or 1", column="score")
            tally.accept(cut or numbered)
            yield row


def _scored_pairs(content: Content, tally: Tally) -> list[Any]:
    """Return the list of pairs; a file of another kind is refused at its beginning."""
    if not content.head.lstrip().startswith(b"{") or b'"scored_pairs"' not in content.head:
        tally.refuse("is not a JSON object with scored_pairs")
    text = content.text()
    try:
        document = parse(text)
    except RowFault as fault:
        tally.refuse(f"JSON cannot be read: {fault}", code="F05")
    elements = document.get("scored_pairs") if isinstance(document, dict) else None
    if not isinstance(elements, list):
        tally.refuse("scored_pairs is not an array")
    note_unknown(document, {"scored_pairs"}, None, tally)
    return elements


def _pair(element: Any, tally: Tally) -> tuple[str, str, str, bool]:
    pair = element.get("pair") if isinstance(element, dict) else None
    if not isinstance(pair, dict):
        raise RowFault("E23", "not an object with a pair and scores")
    documents = [pair.get(f"document_{side}") for side in ("a", "b")]
    if not all(isinstance(one, dict) for one in documents):
        raise RowFault("E23", "document_a or document_b is not an object")
    given = [pair.get("query_id"), *(one.get("document_id") for one in documents)]  # type: ignore[union-attr]
    names = ("query id", "first document's id", "second document's id")
    ids = [read_id(value, None, tally, name) for value, name in zip(given, names, strict=True)]
    query_id, a, b = texts = [text for text, _ in ids]
    note_unusual(tally, 0, *texts)
    return query_id, a, b, any(numbered for _, numbered in ids)


def _models(element: Mapping[str, Any], where: str, tally: Tally) -> Iterator[str]:
    """Yield the models that answered a pair; other keys are reported."""
    for key in element:
        if key.endswith(_SCORE) and key != _SCORE:
            yield key.removesuffix(_SCORE)
        elif key != "pair":
            tally.once("W41", None, f"{where}: unknown key {key!r}", done="ignored", column=key)


def _battle(element: Mapping[str, Any], model: str, ids: tuple[str, str, str]) -> tuple[ZbenchBattle, bool]:
    answer = element.get(f"{model}_score")
    if not isinstance(answer, dict) or not isinstance(answer.get("thought"), str):
        raise RowFault("E23", f"{model}_score is not an object with thought and score")
    score = number(answer, "score", "write a number from -1 to 1")
    swapped, reason = answer["thought"].startswith(SWAPPED.strip()), answer["thought"]
    if swapped:
        reason = reason.removeprefix(SWAPPED.strip()).removeprefix("\n")
    failed = score == 0 and not reason.strip()
    known = None if failed else max(-1.0, min(1.0, score))
    row = ZbenchBattle(*ids, known, model, swapped, "" if failed else reason, pair=element["pair"])
    return row, known is not None and known != score


read = reader(NAME, _EXPECTED, _parse)

FORMAT = Format(
    name=NAME,
    title="zbench scored pairs, JSON",
    tool="zbench",
    kind="battles",
    description="The answers of all models to each pair (zbench's ai_scores.json), with texts and reasons.",
    read=read,
    write=write,
    example=EXAMPLE,
)
