"""Rows of ragas: a sample, and what a system answered to it, as `EvaluationDataset.from_jsonl` reads them.

The keys are those of ragas's `SingleTurnSample`; ragas ignores ``sample_id``. Ids are written beside the contexts,
unless they are made from the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, BinaryIO

from assay.core.read_report import RowFault
from assay.core.text_rules import amount, text_id
from assay.formats.format import Format
from assay.formats.json_lines import write_objects
from assay.formats.reader import reader
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written
from assay.rag.fields import RESPONSE, RETRIEVED, output_of, sample_of
from assay.rag.records import Document, EvaluationSample, SystemOutputs
from assay.rag.samples_jsonl import record_parser

NAME = "ragas-jsonl"
EXAMPLE = (
    '{"user_input": "What does the kit contain?", "retrieved_contexts": ["A kit with two seals."], '
    '"reference_contexts": ["The kit contains two spare rubber seals."], "response": "Two seals.", "reference": '
    '"two rubber seals", "sample_id": "s1", "retrieved_context_ids": ["d4"], "reference_context_ids": ["d1"]}\n'
    '{"user_input": "Is it heavy?", "reference": "no", "sample_id": "s2"}\n'
)
_CONTEXTS = {"retrieved_contexts": "retrieved_context_ids", "reference_contexts": "reference_context_ids"}


@dataclass(frozen=True, slots=True)
class RagasSample(EvaluationSample):
    """A sample with the output of the system in the same row."""

    output: SystemOutputs | None = None


def write(
    rows: Iterable[EvaluationSample], stream: BinaryIO, *, outputs: Mapping[str, SystemOutputs] | None = None
) -> Written:
    """Write samples in the given order, with their outputs, or with those of a system by the samples' ids."""
    listed = list(rows)
    written = [_as_json(row, getattr(row, "output", None) or (outputs or {}).get(row.sample_id)) for row in listed]
    write_objects(written, stream)
    counts = {
        "sample without an output": sum(outputs is not None and row.sample_id not in outputs for row in listed),
        "sample with labels, which ragas does not have": sum(bool(row.labels) for row in listed),
        "sample with several reference answers, of which the first is written": sum(
            bool(row.further_answers) for row in listed
        ),
        "sample with documents without texts, which are not contexts": sum(
            bool(row.relevant_docs) and "reference_contexts" not in of for row, of in zip(listed, written, strict=True)
        ),
    }
    notes = [amount(number, what, what.replace("sample", "samples", 1)) for what, number in counts.items() if number]
    return Written(len(listed), tuple(notes))


def _as_json(sample: EvaluationSample, output: SystemOutputs | None) -> dict[str, Any]:
    retrieved = None if output is None or not output.retrieved else [one.doc for one in output.retrieved]
    of: dict[str, Any] = {"user_input": sample.query}
    of |= _contexts("retrieved_contexts", retrieved) | _contexts("reference_contexts", sample.relevant_docs)
    if output is not None and output.response is not None:
        of["response"] = output.response.text
    if sample.reference_answer is not None:
        of["reference"] = sample.reference_answer.text
    return (
        of
        | {"sample_id": sample.sample_id}
        | _ids("retrieved_contexts", retrieved)
        | _ids("reference_contexts", sample.relevant_docs)
    )


def _contexts(name: str, docs: Sequence[Document] | None) -> dict[str, Any]:
    return {name: [doc.text for doc in docs]} if docs is not None and all(doc.text for doc in docs) else {}


def _ids(name: str, docs: Sequence[Document] | None) -> dict[str, Any]:
    if docs is None or all(doc.text and doc.doc_id == text_id(doc.text) for doc in docs):
        return {}
    return {_CONTEXTS[name]: [doc.doc_id for doc in docs]}


def _sample(of: Mapping[str, Any], place: int) -> RagasSample:
    named = _with_ids(of)
    sample = sample_of(named, place)
    has_output = any(named.get(name) is not None for name in (*RESPONSE, *RETRIEVED))
    values = {one.name: getattr(sample, one.name) for one in fields(sample)}
    return RagasSample(**values, output=output_of(named, place) if has_output else None)


def _with_ids(of: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row whose contexts have their ids."""
    named = {key: value for key, value in of.items() if key not in _CONTEXTS.values()}
    for name, key in _CONTEXTS.items():
        ids, texts = of.get(key), of.get(name)
        if ids is None:
            continue
        if not isinstance(ids, list) or not isinstance(texts, list | None) or (texts and len(texts) != len(ids)):
            kind = value_kind(ids) if not isinstance(ids, list) else f"a list of {len(ids)}"
            raise RowFault("E23", f"the field `{key}` is {kind}", "write one id for each context")
        texts = texts or [""] * len(ids)
        named[name] = [
            {"doc_id": doc_id, "text": text} if isinstance(text, str) else text
            for doc_id, text in zip(ids, texts, strict=True)
        ]
    return named


FORMAT = Format(
    name=NAME,
    title="ragas rows, JSONL",
    tool="ragas",
    kind="samples",
    description=(
        "Questions with contexts, responses and reference answers, as ragas evaluates them (SingleTurnSample). assay "
        "convert --outputs adds the outputs of a system."
    ),
    read=reader(NAME, EXAMPLE.rpartition("\n{")[2], record_parser(_sample, _CONTEXTS.values())),
    write=write,
    example=EXAMPLE,
)
