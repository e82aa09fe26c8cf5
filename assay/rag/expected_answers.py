"""Relevance by expected answers: a judge decides which expected answer each retrieved text contains.

The rule is from Evret's judge design. A text that contains an expected answer gets the id of the first such answer; any
other text gets a unique id. The expected answers are the relevant documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.core.errors import NotValid
from assay.llm.judge import Context
from assay.llm.judges.token_overlap import YesNoJudge, normalized
from assay.rag.records import Document, EvaluationSample, RetrievedDocument, SystemOutputs

# Pairs of text and answer that are judged together: enough to fill batches, few enough to fit in memory.
TOGETHER = 4_096


def expected_as_relevant(samples: Sequence[EvaluationSample]) -> list[EvaluationSample]:
    """Return samples whose relevant documents are their expected answers, with the ids ``relevant_doc_1``,
    ``relevant_doc_2`` and so on."""
    for sample in samples:
        if sample.relevant_docs is not None:
            raise NotValid(
                f"the sample {sample.sample_id!r} has relevant documents, but a judge is for samples with only "
                "expected answers; remove the judge or `relevant_docs`"
            )
    return [
        replace(
            sample,
            relevant_docs=tuple(Document(relevant_id(at), text) for at, text in enumerate(sample.references)) or None,
        )
        for sample in samples
    ]


def judged(
    samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs], judge: YesNoJudge
) -> list[SystemOutputs]:
    """Return outputs whose retrieved documents have the ids of the expected answers that they contain.

    Examples
    --------
    >>> from assay.llm.judges.token_overlap import TokenOverlap
    >>> from assay.rag.reader import read_outputs, read_samples
    >>> samples = read_samples([{"id": "q1", "query": "tent", "expected_answers": ["a tent", "two poles"]}])
    >>> outputs = read_outputs([{"id": "q1", "contexts": ["A stove.", "Take a tent"]}])
    >>> [one.doc.doc_id for one in judged(samples, outputs, TokenOverlap())[0].retrieved]
    ['retrieved_0:a stove', 'relevant_doc_1']
    """
    known = {sample.sample_id: sample for sample in samples}
    contexts = [
        Context(sample.query, one.doc.text, (answer,))
        for output in outputs
        if (sample := known.get(output.sample_id)) is not None
        for one in _with_texts(output)
        for answer in sample.references
    ]
    verdicts = _verdicts(judge, contexts)
    return [
        output if output.sample_id not in known else _mapped(output, len(known[output.sample_id].references), verdicts)
        for output in outputs
    ]


def relevant_id(place: int) -> str:
    """Return the id of an expected answer, by its position from 0."""
    return f"relevant_doc_{place + 1}"


def _with_texts(output: SystemOutputs) -> tuple[RetrievedDocument, ...]:
    for one in output.retrieved:
        if not one.doc.text.strip():
            what = f"the document {one.doc.doc_id!r} that was retrieved for {output.sample_id!r} has no text"
            raise NotValid(f"{what}, which a judge needs; add it to the outputs, or use --documents FILE")
    return output.retrieved


def _verdicts(judge: YesNoJudge, contexts: Sequence[Context]) -> Iterator[bool]:
    """Judge in portions on demand; repeated combinations of text and answer are judged once."""
    known: dict[Context, bool] = {}
    for begin in range(0, len(contexts), TOGETHER):
        portion = contexts[begin : begin + TOGETHER]
        new = list(dict.fromkeys(context for context in portion if context not in known))
        known.update(zip(new, judge.batch_judge(new) if new else (), strict=True))
        yield from (known[context] for context in portion)


def _mapped(output: SystemOutputs, answers: int, verdicts: Iterator[bool]) -> SystemOutputs:
    retrieved = []
    for place, one in enumerate(output.retrieved):
        decisions = [next(verdicts) for _ in range(answers)]
        first = next((at for at, yes in enumerate(decisions) if yes), None)
        doc_id = f"retrieved_{place}:{normalized(one.doc.text)}" if first is None else relevant_id(first)
        doc = replace(one.doc, doc_id=doc_id, metadata={**one.doc.metadata, "doc_id": one.doc.doc_id})
        retrieved.append(replace(one, doc=doc))
    return replace(output, retrieved=tuple(retrieved))
