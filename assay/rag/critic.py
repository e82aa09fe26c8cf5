"""The contract of critics: models that score an answer."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from assay.rag.metric import Skip
from judgments.core.errors import NotValid

# The ends of the scales that a critic may answer on; a score is mapped to 0..1.
SCALES = {"0-1": (0.0, 1.0), "1-5": (1.0, 5.0), "0-10": (0.0, 10.0), "0-100": (0.0, 100.0)}


class CriticError(Exception):
    """A critic that could not score a prompt; the sample is skipped and counted.

    Parameters
    ----------
    message : str
        What happened.
    reason : str
        ``critic_error``, ``critic_unparseable`` or ``critic_off_scale``.
    """

    def __init__(self, message: str, reason: str = "critic_error") -> None:
        super().__init__(message)
        self.reason = reason


class LLMCritic(ABC):
    """Whoever scores a prompt; `score` is all that it needs."""

    @abstractmethod
    def score(self, *, prompt: str, metadata: Mapping[str, Any] | None = None) -> float:
        """Return a score on the scale that the prompt asks for.

        Parameters
        ----------
        prompt : str
            The question to the model.
        metadata : mapping, optional
            ``sample_id``, ``metric``, ``dimension``, ``scale`` and ``system`` (instructions that go before the prompt).

        Raises
        ------
        CriticError
            When there is no score.
        """

    def score_all(self, prompts: Sequence[str], metadata: Sequence[Mapping[str, Any]]) -> list[float | CriticError]:
        """Score several prompts; a critic that can ask at once overrides it."""
        found: list[float | CriticError] = []
        for prompt, about in zip(prompts, metadata, strict=True):
            try:
                found.append(self.score(prompt=prompt, metadata=about))
            except CriticError as error:
                found.append(error)
        return found


def scored(
    critic: LLMCritic | None, prompts: Sequence[str], metadata: Sequence[Mapping[str, Any]], scale: str
) -> list[float | Skip]:
    """Ask a critic, and map its scores to 0..1; what is no number or off the scale is a `Skip`.

    Raises
    ------
    NotValid
        When the critic fails in another way than by `CriticError`.
    """
    if critic is None:
        raise NotValid("there is no critic: name a model with --provider, or pass critic=")
    try:
        answers = critic.score_all(prompts, metadata)
    except (CriticError, NotValid):
        raise
    except Exception as error:
        what = f"the critic {type(critic).__name__} raised {type(error).__name__}: {str(error)[:300]}"
        raise NotValid(f"{what}; raise assay.rag.CriticError for a sample that cannot be scored") from error
    return [Skip(one.reason) if isinstance(one, CriticError) else on_scale(one, scale) for one in answers]


def on_scale(value: object, scale: str) -> float | Skip:
    """Map a score to 0..1.

    Examples
    --------
    >>> on_scale(4, "1-5"), on_scale(7, "1-5"), on_scale("good", "1-5")
    (0.75, Skip(reason='critic_off_scale'), Skip(reason='critic_unparseable'))
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Skip("critic_unparseable")
    low, high = SCALES[scale]
    if not math.isfinite(value) or not low <= value <= high:
        return Skip("critic_off_scale")
    return (value - low) / (high - low)


def number_in(text: str) -> float:
    """Read the score from a model's reply.

    Raises
    ------
    CriticError
        When the reply has no number, or several that could be meant.

    Examples
    --------
    >>> number_in("4"), number_in("Score: 0.75"), number_in("4/5 - well supported")
    (4.0, 0.75, 4.0)
    """
    line = next((one for one in text.splitlines() if one.strip()), "")
    told = re.search(r"score\W*[:=]\W*([+-]?(?:\d+(?:\.\d+)?|\.\d+))", text, re.IGNORECASE)
    first = told or re.match(r"\W*([+-]?(?:\d+(?:\.\d+)?|\.\d+))\b", line)
    if first is None:
        raise CriticError(f"the reply has no score: {text.strip()[:200]!r}", "critic_unparseable")
    return float(first[1])
