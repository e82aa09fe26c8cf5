"""Samples of a RAG evaluation, one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from assay.rag.fields import OF_OUTPUTS, OF_SAMPLES, sample_of
from assay.rag.records import Document, EvaluationSample
from judgments.core.report import Tally
from judgments.formats.declaration import Format
from judgments.formats.decoding import Content
from judgments.formats.json_lines import Element
from judgments.formats.json_rows import reader, rows, write_objects
from judgments.formats.writing import Written

NAME = "samples-jsonl"
EXAMPLE = (
    '{"sample_id": "s1", "query": "What does the kit contain?", "reference_answer": "two rubber seals", '
    '"relevant_docs": [{"doc_id": "d1", "text": "The kit contains two spare rubber seals."}], '
    '"candidate_docs": null, "labels": {"topic": "repair"}}\n'
)


def note_unknown(element: Element, tally: Tally, known: Iterable[str]) -> None:
    """Note keys that are not known, once each."""
    for key in element.of.keys() - {*known}:
        tally.once("W41", element.line, f"the key {key!r} is not known", done="ignored", column=key)


def to_dict(sample: EvaluationSample) -> dict[str, Any]:
    """Return the object that stands for a sample in a file."""
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
    """Return the object that stands for a document in a file."""
    more = {"metadata": dict(doc.metadata)} if doc.metadata else {}
    return {"doc_id": doc.doc_id, "text": doc.text, **more}


def write(rows: Iterable[EvaluationSample], stream: BinaryIO) -> Written:
    """Write samples in the order given."""
    return write_objects(map(to_dict, rows), stream)


def _documents(docs: tuple[Document, ...] | None) -> list[dict[str, Any]] | None:
    return None if docs is None else [document_to_dict(doc) for doc in docs]


def _parse(content: Content, tally: Tally) -> Iterator[EvaluationSample]:
    place = 0

    def said(element: Element, tally: Tally) -> tuple[EvaluationSample, bool]:
        nonlocal place
        place += 1
        note_unknown(element, tally, (*OF_SAMPLES, *OF_OUTPUTS))
        return sample_of(element.of, place), False

    return rows(content, tally, said, lambda row: (row.sample_id, row))


read = reader(NAME, '{"sample_id": "s1", "query": "...", "reference_answer": "..."}', _parse)

FORMAT = Format(
    name=NAME,
    title="RAG samples, JSONL",
    kind="samples",
    extensions=(".jsonl", ".ndjson"),
    description="Questions with reference answer, relevant documents and labels; rows of ragas are read too.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"encoding": "latin-1 for old files"},
)
