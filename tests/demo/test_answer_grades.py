"""Tests of the grades of answers in the demo."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command

from demo.answer_grades import GRADES, SYSTEMS, answer_grade
from evaluation.models import RagSampleSet
from evaluation.rag import people
from judgments.agreement.round_report import look
from judgments.models import Collection, Judgment, Query, Round, User


def test_every_grade_is_on_the_scale_and_the_raters_differ_sometimes() -> None:
    for dimension, rows in GRADES.items():
        given = [
            [answer_grade(dimension, sample, system, rater)[0] for rater in (1, 2, 3)]
            for sample in rows
            for system in SYSTEMS
        ]
        assert {grade for grades in given for grade in grades} == {0, 1, 2}
        differing = sum(len(set(grades)) > 1 for grades in given)
        assert 0 < differing < len(given) / 2
    faithful, correct = GRADES.values()
    assert list(faithful) == list(correct)


@pytest.mark.slow
def test_the_demo_has_two_closed_rounds_over_the_answers_of_its_systems(db: None, settings: Any) -> None:
    settings.DEBUG = True
    call_command("load_demo", "--quiet")
    graded = people.graded(RagSampleSet.objects.get(), User.objects.create_user("reader"))
    assert [one.round.dimension for one in graded] == list(GRADES)
    names = {str(system.uuid): system.name for system in RagSampleSet.objects.get().systems.all()}
    for one in graded:
        assert one.round.state == Round.State.CLOSED
        assert {names[system]: mean.number for system, mean in one.means.items()} == dict.fromkeys(SYSTEMS, 10)
        agreement = look(one.round).agreement
        assert agreement["overlap"] == 20
        assert 0 < agreement["alpha"]["ordinal"]["value"] < 1
    correct = {names[system]: mean.value for system, mean in graded[1].means.items()}
    assert correct["bm25-extract"] > correct["tfidf-lead"]
    assert Judgment.objects.filter(pair__round__dimension="correct").count() == 60
    # The questions are not among the 50 queries drawn from the log.
    assert Collection.objects.get().queries.count() == 50
    assert Query.questions.count() == 10
