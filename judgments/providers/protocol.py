"""What is asked of a model, and what does a provider's protocol say about itself?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from judgments.judges.answers import Reply

# Without a tokenizer: so many characters are a token in most languages' texts, corrected by what providers count.
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a model.

    Parameters
    ----------
    key : str
        What tells it from every other question: the caller's, and given back with the answer.
    system, prompt : str
        Who the model is to be, and what it is asked.
    schema : mapping, optional
        The JSON schema of the answer, for providers that hold a model to it.
    most_tokens : int
        How long the answer may be.
    temperature : float
        0 asks for the most probable answer.
    seed : int, optional
        For providers that take one.
    probabilities : bool
        Whether the probabilities of the tokens are wanted, where the provider tells them.
    """

    key: str
    system: str
    prompt: str
    schema: Mapping[str, Any] | None = None
    most_tokens: int = 400
    temperature: float = 0.0
    seed: int | None = None
    probabilities: bool = False

    @property
    def tokens(self) -> int:
        """About how many tokens the model has to read.

        Examples
        --------
        >>> Question("a", "You judge.", "Query: tent").tokens
        6
        """
        return -(-(len(self.system) + len(self.prompt)) // CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Protocol:
    """A member of the family: how one kind of provider is asked.

    Parameters
    ----------
    name, title, description : str
        What users type, its readable form, one line on whom it reaches.
    base_url : str
        Where the makers' own server stands; another is named by who asks.
    key_variable : str
        The environment variable that usually holds the key.
    path : callable
        ``path(model)``: behind the base address.
    headers : callable
        ``headers(key)``: with the key, which is empty where a server wants none.
    body : callable
        ``body(question, model)``: the request as JSON.
    read : callable
        ``read(told)``: the reply's JSON as a `Reply`; KeyError, TypeError, ValueError or IndexError where it is none.
    """

    name: str
    title: str
    description: str
    base_url: str
    key_variable: str
    path: Callable[[str], str]
    headers: Callable[[str], dict[str, str]]
    body: Callable[[Question, str], dict[str, Any]]
    read: Callable[[Mapping[str, Any]], Reply]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model that can be asked.

    Parameters
    ----------
    protocol : Protocol
        How.
    model : str
        Which.
    base_url : str
        Where.
    key : str
        The secret; never in a message, a log, or the text of this object.
    price_in, price_out : float or None
        Dollars for a million tokens read and written; None where they are not known, and no cost is told then.
    """

    protocol: Protocol
    model: str
    base_url: str
    key: str = field(default="", repr=False)
    price_in: float | None = None
    price_out: float | None = None

    @property
    def url(self) -> str:
        """The address that questions are sent to."""
        return self.base_url.rstrip("/") + self.protocol.path(self.model)

    def cost(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """Dollars for so many tokens.

        Examples
        --------
        >>> from judgments.providers.openai import OPENAI
        >>> Endpoint(OPENAI, "a-model", "http://localhost", price_in=2.0, price_out=8.0).cost(1_000, 50)
        0.0024
        """
        if self.price_in is None or self.price_out is None or tokens_in is None or tokens_out is None:
            return None
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1_000_000

    def most_cost(self, question: Question) -> float | None:
        """What a question can cost at most: its tokens and half as many again, and the longest answer."""
        return self.cost(question.tokens * 3 // 2, question.most_tokens)


def as_text(value: Any) -> str:
    """A field that has to be text, or nothing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"text was expected, not {json.dumps(value)[:80]}")
    return value


def count(value: Any) -> int | None:
    """A count of tokens, where there is a sensible one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
