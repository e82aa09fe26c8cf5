"""Contract of critics: models that score an answer."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from assay.core.errors import NotValid
from assay.rag.fields import plain
from assay.rag.metric import Skip

# Lowest and highest value of each critic scale; scores are mapped to 0..1.
SCALES = {"0-1": (0.0, 1.0), "1-5": (1.0, 5.0), "0-10": (0.0, 10.0), "0-100": (0.0, 100.0)}

_NUMBER = r"([+-]?(?:\d+(?:\.\d+)?|\.\d+))(?![\w%]|[.,]\d)(?:\s*/\s*(\d+(?:\.\d+)?))?"
_LABELED = re.compile(rf"score[\s\"'*_`]*[:=][\s\"'*_`(]*{_NUMBER}", re.IGNORECASE)
# The number is the whole line, or is followed by a punctuation mark instead of a word.
_ALONE = re.compile(rf"[\s\"'*_`(\[]*{_NUMBER}[^\S\n]*(?=$|\n|[^\w\s])")


class CriticError(Exception):
    """A critic that could not score a prompt; the sample is skipped and counted.

    Parameters
    ----------
    message : str
        What happened.
    reason : str
        ``critic_error``, ``critic_unparseable``, ``critic_off_scale`` or ``critic_not_asked``.
    """

    def __init__(self, message: str, reason: str = "critic_error") -> None:
        super().__init__(message)
        self.reason = reason


class LLMCritic(ABC):
    """The base class of critics; a subclass implements `score`."""

    @abstractmethod
    def score(self, *, prompt: str, metadata: Mapping[str, Any] | None = None) -> float:
        """Return a score on the scale of the prompt.

        Parameters
        ----------
        prompt : str
            The prompt for the model.
        metadata : mapping, optional
            ``sample_id``, ``metric``, ``dimension``, ``scale`` and ``system`` (instructions that go before the prompt).

        Raises
        ------
        CriticError
            When there is no score.
        """

    def score_all(self, prompts: Sequence[str], metadata: Sequence[Mapping[str, Any]]) -> list[float | CriticError]:
        """Score several prompts; override it in a critic that can score them concurrently."""
        scores: list[float | CriticError] = []
        for prompt, about in zip(prompts, metadata, strict=True):
            try:
                scores.append(self.score(prompt=prompt, metadata=about))
            except CriticError as error:
                scores.append(error)
        return scores


class Remembering(LLMCritic):
    """A critic that scores each distinct prompt once, so that slices and systems with equal answers share scores."""

    def __init__(self, critic: LLMCritic) -> None:
        self.critic = critic
        self._known: dict[tuple[str, str], float | CriticError] = {}

    def score(self, *, prompt: str, metadata: Mapping[str, Any] | None = None) -> float:
        """Return the score of a prompt."""
        return self.critic.score(prompt=prompt, metadata=metadata)

    def score_all(self, prompts: Sequence[str], metadata: Sequence[Mapping[str, Any]]) -> list[float | CriticError]:
        """Score new prompts, and return all scores."""
        keys = [(text, repr(sorted(of.items()))) for text, of in zip(prompts, metadata, strict=True)]
        new = {key: at for at, key in enumerate(keys) if key not in self._known}
        if new:
            scores = self.critic.score_all([prompts[at] for at in new.values()], [metadata[at] for at in new.values()])
            self._known.update(zip(new, _as_many(self.critic, scores, len(new)), strict=True))
        return [self._known[key] for key in keys]


def _as_many(critic: LLMCritic, scores: Sequence[float | CriticError], number: int) -> Sequence[float | CriticError]:
    if len(scores) != number:
        raise NotValid(f"the critic {type(critic).__name__} returned {len(scores):,} scores for {number:,} prompts")
    return scores


def scored(
    critic: LLMCritic | None, prompts: Sequence[str], metadata: Sequence[Mapping[str, Any]], scale: str
) -> list[float | Skip]:
    """Score prompts with a critic, and map the scores to 0..1; a score off the scale becomes a `Skip`."""
    if critic is None:
        raise NotValid("there is no critic; choose a model with --model, or pass critic=")
    try:
        answers = _as_many(critic, critic.score_all(prompts, metadata), len(prompts))
    except NotValid:
        raise
    except CriticError as error:
        answers = [error] * len(prompts)
    except Exception as error:
        who = type(getattr(critic, "critic", critic)).__name__
        what = f"the critic {who} raised {type(error).__name__}: {str(error)[:300]}"
        raise NotValid(f"{what}; raise assay.rag.CriticError for a sample that cannot be scored") from error
    return [Skip(one.reason) if isinstance(one, CriticError) else on_scale(one, scale) for one in answers]


def on_scale(value: object, scale: str) -> float | Skip:
    """Map a score to 0..1.

    Examples
    --------
    >>> on_scale(4, "1-5"), on_scale(7, "1-5"), on_scale("good", "1-5")
    (0.75, Skip(reason='critic_off_scale'), Skip(reason='critic_unparseable'))
    """
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Skip("critic_unparseable")
    low, high = SCALES[scale]
    if not math.isfinite(value) or not low <= value <= high:
        return Skip("critic_off_scale")
    return (value - low) / (high - low)


def number_in(text: str, highest: float | None = None) -> float:
    """Parse the score in a model's reply: the first line is a number, or a number follows ``score:``.

    A number in a sentence is not the score, nor is a number with a denominator other than the highest score.

    Examples
    --------
    >>> number_in("4"), number_in("Score: 0.75"), number_in("4/5 - well supported", 5)
    (4.0, 0.75, 4.0)
    >>> number_in("3 of 4 claims are supported")
    Traceback (most recent call last):
        ...
    assay.rag.critic.CriticError: the reply has no score: '3 of 4 claims are supported'
    """
    scores = {one.groups() for one in _LABELED.finditer(text)}
    if not scores:
        first = _ALONE.match(text.strip())
        scores = {first.groups()} if first else set()
    if len(scores) != 1:
        why = "several scores" if scores else "no score"
        raise CriticError(f"the reply has {why}: {text.strip()[:200]!r}", "critic_unparseable")
    ((score, denominator),) = scores
    if denominator and highest is not None and float(denominator) != highest:
        raise CriticError(f"the score in the reply is out of {denominator}, not {highest:g}", "critic_unparseable")
    return float(score)
