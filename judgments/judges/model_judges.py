"""Declarations of three judges that call a model: graded, binary and expected answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from judgments.core.errors import NotValid
from judgments.judges import expected_answer, graded
from judgments.judges.answers import Reply
from judgments.judges.graded import Graded, GradeMeaning
from judgments.judges.model_judge import ModelJudge, ModelJudgeKind, Told
from judgments.judges.templates import Template
from judgments.providers.protocol import Question

FOUR = (
    GradeMeaning(0, "not relevant", "has nothing to do with what is searched for"),
    GradeMeaning(1, "related", "is on the subject, and does not serve the need"),
    GradeMeaning(2, "partly relevant", "serves the need in part, or what serves it is hard to find in it"),
    GradeMeaning(3, "relevant", "is about exactly this, and serves the need"),
)
TWO = (GradeMeaning(0, "not relevant"), GradeMeaning(1, "relevant"))
ASKED_FOR = ("scale", "guidelines", "examples", "relevant_from", "probabilities")


def _of(template: Template, told: Told, scale: Sequence[GradeMeaning]) -> ModelJudge:
    more: dict[str, Any] = {} if told.most_tokens is None else {"most_tokens": told.most_tokens}
    return Graded(
        told.template or template,
        tuple(told.scale or scale),
        told.guidelines,
        tuple(told.examples),
        told.relevant_from,
        told.most_characters,
        temperature=told.temperature,
        seed=told.seed,
        probabilities=told.probabilities,
        **more,
    )


def _binary(told: Told) -> ModelJudge:
    scale = told.scale or TWO
    if len(scale) != 2:
        raise NotValid(f"the judge binary has two grades, and the scale has {len(scale)}; take the judge graded")
    top = scale[-1].value if told.relevant_from is None else told.relevant_from
    return _of(graded.BINARY, replace(told, relevant_from=top), TWO)


def _expected_answer(told: Told) -> ModelJudge:
    more: dict[str, Any] = {} if told.most_tokens is None else {"most_tokens": told.most_tokens}
    return expected_answer.ExpectedAnswer(
        _nobody,
        told.template or expected_answer.EXPECTED_ANSWER,
        most_characters=told.most_characters,
        temperature=told.temperature,
        seed=told.seed,
        **more,
    )


def _nobody(questions: Sequence[Question]) -> Sequence[Reply]:
    raise RuntimeError("this judge is asked through judgments.judges.asking")


GRADED = ModelJudgeKind(
    name="graded",
    title="Graded by a model",
    description="A grade on the scale that people have, from their own guidelines, with a reason.",
    source="Thomas et al. 2024; Upadhyay et al. 2024 (UMBRELA), in words of our own",
    needs=("query", "text"),
    takes=ASKED_FOR,
    scale=FOUR,
    build=lambda told: _of(graded.GRADED, told, FOUR),
    template=graded.GRADED,
    places=graded.PLACES,
    needed=graded.NEEDED,
)
BINARY = ModelJudgeKind(
    name="binary",
    title="Yes or no by a model",
    description="Relevant or not, with a reason.",
    source="as graded, with two grades",
    needs=("query", "text"),
    takes=ASKED_FOR,
    scale=TWO,
    build=_binary,
    template=graded.BINARY,
    places=graded.PLACES,
    needed=graded.NEEDED,
)
EXPECTED_ANSWER = ModelJudgeKind(
    name="expected_answer",
    title="Expected answer by a model",
    description="Whether a text says what an expected answer says, in whatever words.",
    source="Evret, judge design, LLMJudge",
    needs=("text", "expected"),
    takes=(),
    scale=TWO,
    build=_expected_answer,
    template=expected_answer.EXPECTED_ANSWER,
    places=expected_answer.PLACES,
    needed=expected_answer.PLACES,
)
