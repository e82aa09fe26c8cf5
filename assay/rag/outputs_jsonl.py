"""Outputs of a RAG system, one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO

from assay.formats.format import Format
from assay.formats.json_lines import write_objects
from assay.formats.reader import reader
from assay.formats.writer import Written
from assay.rag.fields import output_of
from assay.rag.records import RetrievedDocument, SystemOutputs
from assay.rag.samples_jsonl import document_to_dict, record_parser

NAME = "outputs-jsonl"
EXAMPLE = (
    '{"sample_id": "s1", "retrieved": [{"doc_id": "d1", "text": "The kit contains two spare rubber seals.", '
    '"score": 12.5, "rank": 1}], "response": "Two spare rubber seals.", "timings": {"end_to_end": 0.42}}\n'
)


def to_dict(output: SystemOutputs) -> dict[str, Any]:
    """Return an output as an object for a file."""
    return {
        "sample_id": output.sample_id,
        "retrieved": [_retrieved(one) for one in output.retrieved],
        "response": None if output.response is None else output.response.text,
        "timings": dict(output.timings),
    }


def write(rows: Iterable[SystemOutputs], stream: BinaryIO) -> Written:
    """Write outputs in the given order."""
    return write_objects(map(to_dict, rows), stream)


def _retrieved(one: RetrievedDocument) -> dict[str, Any]:
    score = {} if one.score is None else {"score": one.score}
    return document_to_dict(one.doc) | score | {"rank": one.rank}


read = reader(NAME, '{"sample_id": "s1", "retrieved": [...], "response": "..."}', record_parser(output_of))

FORMAT = Format(
    name=NAME,
    title="RAG outputs, JSONL",
    kind="outputs",
    description="The documents, response and timings of a system for each sample; ragas rows are also accepted.",
    read=read,
    write=write,
    example=EXAMPLE,
)
