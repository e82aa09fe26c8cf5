"""Records of a RAG evaluation: samples and the outputs of systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar


class TargetCategory(StrEnum):
    """The target of a metric."""

    RETRIEVAL_RELEVANCE = "retrieval_relevance"
    RETRIEVAL_ACCURACY = "retrieval_accuracy"
    GENERATION_RELEVANCE = "generation_relevance"
    GENERATION_FAITHFULNESS = "generation_faithfulness"
    GENERATION_CORRECTNESS = "generation_correctness"
    LATENCY = "latency"
    DIVERSITY = "diversity"
    NOISE_ROBUSTNESS = "noise_robustness"
    NEGATIVE_REJECTION = "negative_rejection"
    COUNTERFACTUAL_ROBUSTNESS = "counterfactual_robustness"


@dataclass(frozen=True, slots=True)
class Answer:
    """A reference answer or a response."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Document:
    """A document; ``metadata["embedding"]`` may contain its vector."""

    doc_id: str
    text: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RetrievedDocument:
    """A document at a rank, counted from 1, with the system's score."""

    doc: Document
    rank: int
    score: float | None = None


@dataclass(frozen=True, slots=True)
class EvaluationSample:
    """A test case.

    Parameters
    ----------
    sample_id, query : str
        Its id, and the question.
    reference_answer : Answer or None
        The correct answer; None if there is none.
    relevant_docs, candidate_docs : tuple of Document or None
        The relevant documents, and the documents among which the system could choose; None if unknown.
    labels : mapping
        ``variant_of`` (the id of the clean sample), ``scenario`` (``typo``, ``paraphrase``, ``unanswerable``,
        ``counterfactual``), and any label to slice by.
    further_answers : tuple of Answer
        Other correct answers. Metrics use the best match.
    """

    sample_id: str
    query: str
    reference_answer: Answer | None = None
    relevant_docs: tuple[Document, ...] | None = None
    candidate_docs: tuple[Document, ...] | None = None
    labels: Mapping[str, Any] = field(default_factory=dict)
    further_answers: tuple[Answer, ...] = ()

    @property
    def relevant_ids(self) -> frozenset[str]:
        """Return the ids of the relevant documents."""
        return frozenset(doc.doc_id for doc in self.relevant_docs or ())

    @property
    def references(self) -> list[str]:
        """Return the texts of the correct answers that are not empty."""
        answers = [self.reference_answer, *self.further_answers]
        return [answer.text for answer in answers if answer is not None and answer.text.strip()]


@dataclass(frozen=True, slots=True)
class SystemOutputs:
    """The output of a system for a sample.

    Parameters
    ----------
    sample_id : str
        The sample.
    retrieved : tuple of RetrievedDocument
        The retrieved documents, sorted by rank.
    response : Answer or None
        The generated answer; None for a system that only retrieves.
    timings : mapping of str to float
        Seconds by stage, such as ``end_to_end``.
    missing : bool
        Whether the system returned nothing and the sample counts as zero.
    """

    sample_id: str
    retrieved: tuple[RetrievedDocument, ...] = ()
    response: Answer | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    missing: bool = False


Record = TypeVar("Record", EvaluationSample, SystemOutputs)
