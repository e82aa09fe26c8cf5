"""Tests of few-shot examples: frozen human grades, and never a pair the judge has to grade."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import NotValid
from judgments.machines.judge_runs import estimate, model_judges
from judgments.models import Document, Query
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from tests.judgments.machines.model_replies import choice_of, provider_at

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]


@pytest.fixture
def frozen(make_round: Callable[..., Any], rater: Any, lead: Any, rate_all: Any) -> Any:
    """Five queries of four documents, graded 0 to 3 by the place of the document."""
    round_ = make_round(queries=5, documents=4, raters=[rater], ratings_per_pair=1)
    rate_all(round_, rater, lambda pair: int(pair.document.doc_id[-1]) - 1)
    return snapshots.freeze(
        round_.collection, name="frozen", rounds=[rounds.close_round(round_, actor=lead)], actor=lead
    )


@pytest.fixture
def judged_round(frozen: Any, make_round: Callable[..., Any], rater: Any) -> Any:
    """A later round about the first two of those queries."""
    return make_round(queries=2, documents=6, raters=[rater], name="Round 2")


def test_each_grade_in_turn_from_other_queries(frozen: Any, judged_round: Any) -> None:
    chosen = model_judges.choose(frozen, judged_round, 8, seed=3)
    assert [one.grade for one in chosen.examples] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert {query_id for query_id, _ in chosen.keys} <= {"q3", "q4", "q5"}
    assert model_judges.choose(frozen, judged_round, 8, seed=3) == chosen
    assert model_judges.choose(frozen, judged_round, 8, seed=4) != chosen


def test_too_few_labels_are_refused(frozen: Any, judged_round: Any) -> None:
    with pytest.raises(NotValid, match="12 human labels"):
        model_judges.choose(frozen, judged_round, 13, seed=3)


def test_a_judge_never_grades_its_own_examples(frozen: Any, judged_round: Any, lead: Any, rater: Any) -> None:
    choice = choice_of(
        provider_at("http://127.0.0.1:9", judged_round.collection, lead),
        examples=4,
        snapshot=frozen,
        seed=judged_round.seed,
    )
    judge, graded = model_judges.build(judged_round, choice)
    assert "An example that people graded 3" in graded.question(estimate.context_of(judged_round.pairs.first())).prompt
    # Another round holds one of those pairs: the judge of the first one is not asked about it there.
    query_id, doc_id = judge.inputs["example_pairs"][0]
    pair = rounds.Candidate(
        Query.objects.get(query_id=query_id),
        Document.objects.get(doc_id=doc_id, collection=judged_round.collection),
        {},
    )
    other = rounds.create_round(
        judged_round.collection,
        name="Round 3",
        candidates=[pair],
        provenance={},
        guidelines=judged_round.guidelines,
        actor=lead,
        raters=[rater],
    )
    left = estimate.waiting(other, model_judges.get_or_store(judge))
    assert (left.ready.count(), left.examples) == (0, 1)
