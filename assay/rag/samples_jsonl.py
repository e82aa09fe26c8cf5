"""Samples of a RAG evaluation, one JSON object per line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, BinaryIO

from assay.core.read_report import Tally
from assay.formats.format import Format
from assay.formats.json_lines import Element, note_unknown, rows, write_objects
from assay.formats.reader import reader
from assay.formats.text_lines import Content
from assay.formats.writer import Written
from assay.rag.fields import OF_OUTPUTS, OF_SAMPLES, sample_of
from assay.rag.records import Document, EvaluationSample, Record

NAME = "samples-jsonl"
EXAMPLE = (
    '{"sample_id": "s1", "query": "What does the kit contain?", "reference_answer": "two rubber seals", '
    '"relevant_docs": [{"doc_id": "d1", "text": "The kit contains two spare rubber seals."}], '
    '"candidate_docs": null, "labels": {"topic": "repair"}}\n'
)


def to_dict(sample: EvaluationSample) -> dict[str, Any]:
    """Return a sample as an object for a file."""
    answers = [one.text for one in (sample.reference_answer, *sample.further_answers) if one is not None]
    return {
        "sample_id": sample.sample_id,
        "query": sample.query,
        "reference_answer": answers if len(answers) > 1 else answers[0] if answers else None,
        "relevant_docs": _documents(sample.relevant_docs),
        "candidate_docs": _documents(sample.candidate_docs),
        "labels": dict(sample.labels),
    }


def document_to_dict(doc: Document) -> dict[str, Any]:
    """Return a document as an object for a file."""
    more = {"metadata": dict(doc.metadata)} if doc.metadata else {}
    return {"doc_id": doc.doc_id, "text": doc.text, **more}


def write(rows: Iterable[EvaluationSample], stream: BinaryIO) -> Written:
    """Write samples in the given order."""
    return write_objects(map(to_dict, rows), stream)


def _documents(docs: tuple[Document, ...] | None) -> list[dict[str, Any]] | None:
    return None if docs is None else [document_to_dict(doc) for doc in docs]


def record_parser(
    record_of: Callable[[Mapping[str, Any], int], Record], known: Iterable[str] = ()
) -> Callable[[Content, Tally], Iterator[Record]]:
    """Return a parser that reads one record per line by `sample_of` or `output_of`; ``known`` contains further keys."""
    keys = {*OF_SAMPLES, *OF_OUTPUTS, *known}

    def parse(content: Content, tally: Tally) -> Iterator[Record]:
        places = count(1)

        def record(element: Element, tally: Tally) -> tuple[Record, bool]:
            # A file may contain both, as rows of ragas do.
            note_unknown(element.of, keys, element.line, tally)
            return record_of(element.of, next(places)), False

        return rows(content, tally, record, lambda row: (row.sample_id, row))

    return parse


read = reader(NAME, '{"sample_id": "s1", "query": "...", "reference_answer": "..."}', record_parser(sample_of))

FORMAT = Format(
    name=NAME,
    title="RAG samples, JSONL",
    kind="samples",
    description="Questions with reference answers, relevant documents and labels; ragas rows are also accepted.",
    read=read,
    write=write,
    example=EXAMPLE,
)
