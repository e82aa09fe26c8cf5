"""Tests of the demo's RAG systems and questions."""

from __future__ import annotations

from assay.rag import evaluate, read_outputs, read_samples
from demo import catalogue, rag


def test_every_question_has_its_products_and_both_systems_answer_it() -> None:
    documents = catalogue.documents()
    questions = rag.samples(documents)
    samples = {one.sample_id: one for one in read_samples(questions)}
    assert all(samples[row[0]].relevant_docs for row in rag.QUESTIONS)
    answered = rag.outputs(questions, documents)
    for lines in answered.values():
        outputs = read_outputs(lines)
        assert [one.sample_id for one in outputs] == list(samples)
        assert all(0 < one.timings["retrieval"] <= one.timings["end_to_end"] for one in outputs)
    scores = {one.name: one.scores for one in evaluate(questions, answered, "TokenF1 NegativeRejectionRate").systems}
    assert scores["bm25-extract"]["TokenF1"].value > scores["tfidf-lead"]["TokenF1"].value
    assert scores["bm25-extract"]["NegativeRejectionRate"].value == 1.0
