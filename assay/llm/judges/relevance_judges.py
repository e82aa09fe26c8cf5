"""Declarations of three judges that call a model: graded, binary and expected answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from assay.core.errors import NotValid
from assay.llm.judges import expected_answer, graded_relevance
from assay.llm.judges.graded_relevance import Graded, GradeMeaning
from assay.llm.judges.model_judge import JudgeOptions, ModelJudge, ModelJudgeKind
from assay.llm.judges.prompt_templates import Template
from assay.llm.model_reply import Reply
from assay.llm.providers.protocol import Question

FOUR = (
    GradeMeaning(0, "not relevant", "has nothing to do with what is searched for"),
    GradeMeaning(1, "related", "is on the subject, and does not serve the need"),
    GradeMeaning(2, "partly relevant", "serves the need in part, or what serves it is hard to find in it"),
    GradeMeaning(3, "relevant", "is about exactly this, and serves the need"),
)
TWO = (GradeMeaning(0, "not relevant"), GradeMeaning(1, "relevant"))
GRADED_OPTIONS = ("scale", "guidelines", "examples", "relevant_from", "probabilities")


def _of(template: Template, options: JudgeOptions, scale: Sequence[GradeMeaning]) -> ModelJudge:
    more: dict[str, Any] = {} if options.most_tokens is None else {"most_tokens": options.most_tokens}
    return Graded(
        options.template or template,
        tuple(options.scale or scale),
        options.guidelines,
        tuple(options.examples),
        options.relevant_from,
        options.most_characters,
        temperature=options.temperature,
        seed=options.seed,
        probabilities=options.probabilities,
        **more,
    )


def _binary(options: JudgeOptions) -> ModelJudge:
    scale = options.scale or TWO
    if len(scale) != 2:
        raise NotValid(f"the binary judge has two grades, and the scale has {len(scale)}; use the graded judge")
    top = scale[-1].value if options.relevant_from is None else options.relevant_from
    return _of(graded_relevance.BINARY, replace(options, relevant_from=top), TWO)


def _expected_answer(options: JudgeOptions) -> ModelJudge:
    more: dict[str, Any] = {} if options.most_tokens is None else {"most_tokens": options.most_tokens}
    return expected_answer.ExpectedAnswer(
        _nobody,
        options.template or expected_answer.EXPECTED_ANSWER,
        most_characters=options.most_characters,
        temperature=options.temperature,
        seed=options.seed,
        **more,
    )


def _nobody(questions: Sequence[Question]) -> Sequence[Reply]:
    raise RuntimeError("run this judge with assay.llm.judges.bulk_judging")


GRADED = ModelJudgeKind(
    name="graded",
    title="Graded by a model",
    description="A grade on the raters' scale, following their guidelines, with a reason.",
    source="Thomas et al. 2024; Upadhyay et al. 2024 (UMBRELA), in our own words",
    needs=("query", "text"),
    takes=GRADED_OPTIONS,
    scale=FOUR,
    build=lambda options: _of(graded_relevance.GRADED, options, FOUR),
    template=graded_relevance.GRADED,
    places=graded_relevance.PLACES,
    needed=graded_relevance.NEEDED,
)
BINARY = ModelJudgeKind(
    name="binary",
    title="Yes or no by a model",
    description="Relevant or not, with a reason.",
    source="same as graded, with two grades",
    needs=("query", "text"),
    takes=GRADED_OPTIONS,
    scale=TWO,
    build=_binary,
    template=graded_relevance.BINARY,
    places=graded_relevance.PLACES,
    needed=graded_relevance.NEEDED,
)
EXPECTED_ANSWER = ModelJudgeKind(
    name="expected_answer",
    title="Expected answer by a model",
    description="Whether a text states the expected answer, in any wording.",
    source="Evret, judge design, LLMJudge",
    needs=("text", "expected"),
    takes=(),
    scale=TWO,
    build=_expected_answer,
    template=expected_answer.EXPECTED_ANSWER,
    places=expected_answer.PLACES,
    needed=expected_answer.PLACES,
)
