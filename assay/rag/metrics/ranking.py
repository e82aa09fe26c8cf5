"""Relevance of the documents of a ranking, counting each document once."""

from __future__ import annotations

from assay.rag.records import EvaluationSample, SystemOutputs


def relevant_ranks(sample: EvaluationSample, output: SystemOutputs, k: int | None) -> list[int]:
    """Return the ranks, from 1 to k, at which each relevant document first appears."""
    gold = set(sample.relevant_ids)
    ranks = []
    for rank, retrieved in enumerate(output.retrieved[:k], 1):
        if retrieved.doc.doc_id in gold:
            gold.remove(retrieved.doc.doc_id)
            ranks.append(rank)
    return ranks


def distinct_relevant(sample: EvaluationSample, output: SystemOutputs, k: int) -> int:
    """Count the relevant documents among the first k."""
    return len(relevant_ranks(sample, output, k))
