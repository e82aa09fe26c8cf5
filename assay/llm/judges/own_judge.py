"""Judges supplied by the user: a class with ``judge(...) -> bool`` or ``batch_judge(contexts) -> list of bool``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.core.user_callables import call, load
from assay.llm.judge import Context, JudgeKind, Outcome

# Seconds per call, as for one attempt at a model call.
TIMEOUT = 60.0
NAMES = ("query", "expected_text", "retrieved_text", "expected", "text")


@dataclass(frozen=True, slots=True)
class JudgmentContext:
    """Input of a user's judge: one text and one expected answer."""

    query: str
    expected_text: str
    retrieved_text: str

    @property
    def expected(self) -> str:
        """Return the expected answer."""
        return self.expected_text

    @property
    def text(self) -> str:
        """Return the retrieved text."""
        return self.retrieved_text


class OwnJudge:
    """Adapter for a user's class as a judge that says yes or no."""

    def __init__(self, spec: str, seconds: float = TIMEOUT) -> None:
        if not seconds > 0:
            raise NotValid(f"--timeout is {seconds:g}; use a number of seconds above 0")
        self._spec, self._seconds = spec, seconds
        target = load(spec, "the judge")
        if inspect.isclass(target):
            target = call(target, seconds=seconds, who=spec, about="making it")
        self._batch = getattr(target, "batch_judge", None)
        self._one = getattr(target, "judge", None) or (target if inspect.isroutine(target) else None)
        if not callable(self._batch) and not callable(self._one):
            raise NotValid(f"the judge {spec} has neither judge(context) nor batch_judge(contexts); add one of them")
        self._named = () if self._one is None else _named(spec, self._one)

    def batch_judge(self, contexts: Sequence[Context]) -> list[bool]:
        """Return for each context whether the text matches one of the expected answers."""
        judged: list[bool] = []
        for query, some in groupby(contexts, key=lambda context: context.query):
            one = list(some)
            contexts_by_pair = [[JudgmentContext(query, text, of.text) for text in of.expected or ("",)] for of in one]
            verdicts = iter(self._verdicts([context for contexts in contexts_by_pair for context in contexts]))
            # All verdicts are consumed, so that each context starts with its own.
            judged += [True in [next(verdicts) for _ in contexts] for contexts in contexts_by_pair]
        return judged

    def judge(self, context: Context) -> bool:
        """Return whether the text matches one of the expected answers."""
        return self.batch_judge([context])[0]

    def outcomes(self, contexts: Sequence[Context]) -> list[Outcome]:
        """Return grade 1 and relevant for a yes, grade 0 and not relevant for a no."""
        return [Outcome("graded", int(yes), yes) for yes in self.batch_judge(contexts)]

    def _verdicts(self, contexts: list[JudgmentContext]) -> list[bool]:
        about = f"query {contexts[0].query!r}"
        if callable(self._batch):
            returned = self._call(self._batch, contexts, about=about)
            try:
                verdicts = list(returned)
            except TypeError:
                raise NotValid(f"{self._spec}, {about}: returned {type(returned).__name__}, not a list") from None
            if len(verdicts) != len(contexts):
                what = f"returned {amount(len(verdicts), 'answer')} for {amount(len(contexts), 'context')}"
                raise NotValid(f"{self._spec}, {about}: {what}; return one answer for each")
        else:
            assert self._one is not None  # noqa: S101 (one of the two is there)
            verdicts = [self._ask(self._one, context, about) for context in contexts]
        return [self._bool(one, about) for one in verdicts]

    def _ask(self, judge: Callable[..., Any], context: JudgmentContext, about: str) -> Any:
        if self._named:
            return self._call(judge, about=about, **{name: getattr(context, name) for name in self._named})
        return self._call(judge, context, about=about)

    def _call(self, function: Callable[..., Any], *arguments: Any, about: str, **named: Any) -> Any:
        return call(function, *arguments, seconds=self._seconds, who=self._spec, about=about, **named)

    def _bool(self, value: Any, about: str) -> bool:
        # numpy has its own boolean class.
        if type(value).__name__ not in ("bool", "bool_"):
            raise NotValid(
                f"{self._spec}, {about}: the judge returned {str(value)[:80]!r}; it must return True or False"
            )
        return bool(value)


def own_kind(spec: str, seconds: float = TIMEOUT) -> JudgeKind:
    """Return the declaration of a user's judge."""
    judge = OwnJudge(spec, seconds)
    return JudgeKind(spec, spec, "A custom class.", spec, ("text",), (), lambda: judge)


def _named(spec: str, judge: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameters that are passed by name; none if the judge takes a context."""
    try:
        parameters = list(inspect.signature(judge).parameters.values())
    except (TypeError, ValueError):
        return ()
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [one.name for one in parameters if one.default is one.empty and one.kind not in variadic]
    if len(needed) <= 1 and not set(needed) & set(NAMES):
        return ()
    if odd := [name for name in needed if name not in NAMES]:
        known = ", ".join(NAMES)
        raise NotValid(
            f"the judge {spec} has the parameter {odd[0]!r}; its method judge must accept one context, or any of "
            f"{known}"
        )
    return tuple(one.name for one in parameters if one.name in NAMES)
