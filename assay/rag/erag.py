"""Usefulness of retrieved documents to the system that answers with them (eRAG), and the quality of answers from
whole lists. The task answers each question from each document alone, and the metric's score of the answer is the
label of the document. The same task answers from the whole list, whose quality the labels should predict. Source:
Salemi and Zamani 2024.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assay.core.errors import NotValid
from assay.core.user_callables import call, load
from assay.formats.value_kinds import value_kind
from assay.llm.judge import Outcome
from assay.llm.judges.prompt_templates import LONGEST_DOCUMENT, Template, shown
from assay.llm.judges.usefulness import DOWNSTREAM_TEMPLATE
from assay.rag.metric import Metric, SampleMetric, Skip
from assay.rag.prompt_calls import Prompt, PromptCalls, PromptReader
from assay.rag.records import Answer, EvaluationSample, RetrievedDocument, SystemOutputs

MOST_TOKENS = 200


class TaskInput(NamedTuple):
    """A question, and the texts from which to answer it."""

    sample_id: str
    query: str
    documents: tuple[str, ...]


# Answers all inputs in order; None if there is no answer.
Task = Callable[[Sequence[TaskInput]], list[str | None]]


class ModelTask:
    """A task for a provider's model."""

    def __init__(
        self,
        calls: PromptCalls,
        *,
        template: Template = DOWNSTREAM_TEMPLATE,
        most_tokens: int = MOST_TOKENS,
        most_characters: int = LONGEST_DOCUMENT,
    ) -> None:
        template.check(("query", "document"), ("query", "document"))
        self._calls, self._template, self._most_characters = calls, template, most_characters
        self._reader = PromptReader(lambda text, about: Outcome("graded", usefulness=1.0), most_tokens)

    def __call__(self, inputs: Sequence[TaskInput]) -> list[str | None]:
        """Answer all inputs together; a refusal or a truncated answer does not count."""
        outcomes = self._calls.ask([self._prompt(one) for one in inputs], self._reader)
        return [one.raw.strip() if one is not None and one.name == "graded" else None for one in outcomes]

    def _prompt(self, one: TaskInput) -> Prompt:
        key = repr((self._template.sha256, one.query, one.documents))
        texts = "\n".join(shown(text, key, self._most_characters).text for text in one.documents)
        system, prompt = self._template.filled({"query": one.query.strip(), "document": texts})
        return Prompt(prompt, system)


class FunctionTask:
    """A task for a custom function."""

    def __init__(self, spec: str, seconds: float, watch: Callable[[int], None] = lambda done: None) -> None:
        self._spec, self._seconds, self._watch = spec, seconds, watch
        self._function = load(spec, "the task")
        if not callable(self._function):
            raise NotValid(f"the task {spec} is {value_kind(self._function)}, not a function")

    def __call__(self, inputs: Sequence[TaskInput]) -> list[str | None]:
        """Answer all inputs, one at a time."""
        known: dict[tuple[str, tuple[str, ...]], str] = {}
        answers: list[str | None] = []
        for done, one in enumerate(inputs, 1):
            key = (one.query, one.documents)
            if key not in known:
                known[key] = self._answer(one)
            answers.append(known[key])
            self._watch(done)
        return answers

    def _answer(self, one: TaskInput) -> str:
        about = f"query {one.sample_id!r}"
        answer = call(
            self._function, one.query, list(one.documents), seconds=self._seconds, who=self._spec, about=about
        )
        if not isinstance(answer, str):
            raise NotValid(f"{self._spec}, {about}: returned {value_kind(answer)}; return the answer as text")
        return answer


@dataclass(frozen=True)
class Usefulness:
    """Result of `usefulness`."""

    labels: dict[tuple[str, str], float] = field(default_factory=dict)
    end_to_end: dict[str, dict[str, float]] = field(default_factory=dict)
    responses: dict[str, dict[str, str]] = field(default_factory=dict)
    unlabeled: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)


class _Request(NamedTuple):
    """An input and its purpose: a document alone, or the list of a system."""

    input: TaskInput
    sample: EvaluationSample
    documents: tuple[RetrievedDocument, ...]
    system: str | None


def usefulness(
    samples: Sequence[EvaluationSample],
    outputs: Mapping[str, Sequence[SystemOutputs]],
    task: Task,
    metric: Metric,
    *,
    k: int = 10,
    end_to_end: int | None = None,
    seed: int = 0,
) -> Usefulness:
    """Label the first k documents of each system by how well the task answers from each document alone."""
    if k < 1:
        raise NotValid(f"k is {k}; use 1 or more")
    if end_to_end is not None and end_to_end < 0:
        raise NotValid(f"end_to_end is {end_to_end}; use 0 or more")
    result = Usefulness()
    why = {sample.sample_id: _left_out(metric, sample) for sample in samples}
    result.left_out.update(Counter(skip.reason for skip in why.values() if skip is not None))
    cases = {sample.sample_id: sample for sample in samples if why[sample.sample_id] is None}
    drawn = list(cases)
    if end_to_end is not None and end_to_end < len(drawn):
        drawn = random.Random(seed).sample(drawn, end_to_end)  # noqa: S311 (a draw that can be repeated)
    requests = [*_alone(cases, outputs, k), *_lists(cases, outputs, k, frozenset(drawn))]
    answers = task([one.input for one in requests])
    scores = _scores(metric, requests, answers)
    unlabeled: Counter[str] = Counter()
    for one, answer, score in zip(requests, answers, scores, strict=True):
        sample_id = one.sample.sample_id
        if one.system is None:
            if isinstance(score, Skip):
                unlabeled[score.reason] += 1
            else:
                result.labels[sample_id, one.documents[0].doc.doc_id] = float(score)
            continue
        if answer is not None:
            result.responses.setdefault(one.system, {})[sample_id] = answer
        if not isinstance(score, Skip):
            result.end_to_end.setdefault(one.system, {})[sample_id] = float(score)
    result.unlabeled.update(unlabeled)
    return result


def _left_out(metric: Metric, sample: EvaluationSample) -> Skip | None:
    """Return why an answer to this sample could not be scored, before paying for it."""
    if not isinstance(metric, SampleMetric):
        return None
    return metric.skip(sample, SystemOutputs(sample.sample_id, (), Answer("an answer")))


def _first(output: SystemOutputs, k: int) -> tuple[RetrievedDocument, ...]:
    """Return the first k distinct documents."""
    documents = {one.doc.doc_id: one for one in reversed(output.retrieved[:k])}
    ranked = sorted(documents.values(), key=lambda one: one.rank)
    for one in ranked:
        if not one.doc.text.strip():
            what = f"the document {one.doc.doc_id!r} that was retrieved for {output.sample_id!r} has no text"
            raise NotValid(f"{what}; add it to the outputs, or use --documents FILE")
    return tuple(ranked)


def _alone(
    cases: Mapping[str, EvaluationSample], outputs: Mapping[str, Sequence[SystemOutputs]], k: int
) -> list[_Request]:
    requests: dict[tuple[str, str], _Request] = {}
    for output in (one for given in outputs.values() for one in given if one.sample_id in cases):
        sample = cases[output.sample_id]
        for one in _first(output, k):
            request = _Request(TaskInput(sample.sample_id, sample.query, (one.doc.text,)), sample, (one,), None)
            earlier = requests.setdefault((sample.sample_id, one.doc.doc_id), request)
            if earlier.input != request.input:
                raise NotValid(
                    f"the document {one.doc.doc_id!r} has two texts for {sample.sample_id!r}; give it two ids"
                )
    return list(requests.values())


def _lists(
    cases: Mapping[str, EvaluationSample],
    outputs: Mapping[str, Sequence[SystemOutputs]],
    k: int,
    drawn: frozenset[str],
) -> list[_Request]:
    requests = []
    for system, given in outputs.items():
        for output in given:
            if output.sample_id in drawn and output.retrieved:
                sample, documents = cases[output.sample_id], _first(output, k)
                texts = tuple(one.doc.text for one in documents)
                requests.append(_Request(TaskInput(sample.sample_id, sample.query, texts), sample, documents, system))
    return requests


def _scores(metric: Metric, requests: Sequence[_Request], answers: Sequence[str | None]) -> list[float | Skip]:
    """Score all answers; a metric that is not a mean over samples scores each separately."""
    places = [at for at, answer in enumerate(answers) if answer is not None]
    samples = [requests[at].sample for at in places]
    outputs = [
        SystemOutputs(requests[at].sample.sample_id, requests[at].documents, Answer(answers[at] or "")) for at in places
    ]
    if isinstance(metric, SampleMetric):
        values = metric.values(samples, outputs)
    else:
        values = []
        for sample, output in zip(samples, outputs, strict=True):
            result = metric.compute([sample], [output])
            values.append(result.value if result.defined else Skip(str(result.details["reason"])))
    scores: list[float | Skip] = [Skip("no_answer")] * len(requests)
    for at, value in zip(places, values, strict=True):
        if not isinstance(value, Skip) and not 0 <= value <= 1:
            raise NotValid(f"{metric.label} is {value:g} for an answer; choose a metric with values from 0 to 1")
        scores[at] = value
    return scores
