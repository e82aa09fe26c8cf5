"""Outputs of a RAG system, one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from assay.rag.fields import OF_OUTPUTS, OF_SAMPLES, output_of
from assay.rag.records import RetrievedDocument, SystemOutputs
from assay.rag.samples_jsonl import document_to_dict, note_unknown
from judgments.core.report import Tally
from judgments.formats.declaration import Format
from judgments.formats.decoding import Content
from judgments.formats.json_lines import Element
from judgments.formats.json_rows import reader, rows, write_objects
from judgments.formats.writing import Written

NAME = "outputs-jsonl"
EXAMPLE = (
    '{"sample_id": "s1", "retrieved": [{"doc_id": "d1", "text": "The kit contains two spare rubber seals.", '
    '"score": 12.5, "rank": 1}], "response": "Two spare rubber seals.", "timings": {"end_to_end": 0.42}}\n'
)


def to_dict(output: SystemOutputs) -> dict[str, Any]:
    """Return the object that stands for an output in a file."""
    return {
        "sample_id": output.sample_id,
        "retrieved": [_retrieved(one) for one in output.retrieved],
        "response": None if output.response is None else output.response.text,
        "timings": dict(output.timings),
    }


def write(rows: Iterable[SystemOutputs], stream: BinaryIO) -> Written:
    """Write outputs in the order given."""
    return write_objects(map(to_dict, rows), stream)


def _retrieved(one: RetrievedDocument) -> dict[str, Any]:
    score = {} if one.score is None else {"score": one.score}
    return document_to_dict(one.doc) | score | {"rank": one.rank}


def _parse(content: Content, tally: Tally) -> Iterator[SystemOutputs]:
    place = 0

    def said(element: Element, tally: Tally) -> tuple[SystemOutputs, bool]:
        nonlocal place
        place += 1
        note_unknown(element, tally, (*OF_SAMPLES, *OF_OUTPUTS))
        return output_of(element.of, place), False

    return rows(content, tally, said, lambda row: (row.sample_id, row))


read = reader(NAME, '{"sample_id": "s1", "retrieved": [...], "response": "..."}', _parse)

FORMAT = Format(
    name=NAME,
    title="RAG outputs, JSONL",
    kind="outputs",
    extensions=(".jsonl", ".ndjson"),
    description="What a system retrieved and answered for each sample, with timings; rows of ragas are read too.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"encoding": "latin-1 for old files"},
)
