"""Data classes for questions to a model, endpoints, and the declaration of a provider's protocol."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from assay.llm.model_reply import GRADE_KEY, Reply

# The key outside strings; within a string its quotation marks are escaped.
_GRADE = re.compile(rf'"{GRADE_KEY}"\s*:\s*(-?\d+)')

# No provider reports more alternatives per token; additional ones are ignored.
MOST_ALTERNATIVES = 64


def of_grade(tokens: Sequence[tuple[str, Mapping[str, float]]]) -> dict[str, float] | None:
    """Return the probabilities of the numbers at the token of the grade.

    Examples
    --------
    >>> of_grade([('{"why": "for ', {}), ("3", {}), ('", "grade', {}), ('":', {}), (" 2}", {" 2}": 0.0})])
    {'2': 1.0}
    """
    ends = list(accumulate(len(token) for token, _ in tokens))
    text = "".join(token for token, _ in tokens)
    match = next(reversed(list(_GRADE.finditer(text))), None)
    if match is None:
        return None
    at = next(place for place, end in enumerate(ends) if end > match.start(1))
    if match.end(1) > ends[at]:
        return None
    begin = ends[at] - len(tokens[at][0])
    by_grade: dict[str, float] = {}
    before = text[match.start() : begin]
    for other, logarithm in islice(tokens[at][1].items(), MOST_ALTERNATIVES):
        number = _GRADE.match(before + other)
        if number is not None and number.end(1) > len(before) and not math.isnan(logarithm):
            by_grade[number[1]] = by_grade.get(number[1], 0.0) + math.exp(min(logarithm, 0.0))
    return by_grade or None


# Characters per token in most European languages, used instead of a tokenizer and corrected by provider counts. Only
# for estimates: Chinese text has four times as many tokens.
CHARACTERS_PER_TOKEN = 4
# The default of tokens that a provider adds to a request.
WRAPPING = 1_024
# No request or answer has more tokens; a higher count is invalid.
MOST_TOKENS = 100_000_000
# Query parameters allowed in an address, which is displayed and stored and must not contain secrets.
ADDRESS_PARAMETERS = frozenset({"api-version"})
# The question without each field that some models reject.
WITHOUT: dict[str, Any] = {"temperature": None, "seed": None, "schema": None, "probabilities": False}


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a model."""

    key: str
    system: str
    prompt: str
    schema: Mapping[str, Any] | None = None
    most_tokens: int = 400
    temperature: float | None = 0.0
    seed: int | None = None
    probabilities: bool = False
    thinks: bool | None = None

    @property
    def tokens(self) -> int:
        """Return the estimated number of input tokens.

        Examples
        --------
        >>> Question("a", "You judge.", "Query: tent").tokens
        6
        """
        return -(-(len(self.system) + len(self.prompt)) // CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Protocol:
    """Declaration of a provider's protocol."""

    name: str
    title: str
    description: str
    base_url: str
    key_variable: str
    path: Callable[[str], str]
    headers: Callable[[str], dict[str, str]]
    body: Callable[[Question, str], dict[str, Any]]
    read: Callable[[Mapping[str, Any]], Reply]
    moderated: Callable[[int, Mapping[str, Any]], bool] = lambda status, body: False
    hopeless: Callable[[int, Any], bool] = lambda status, body: False
    counted: Callable[[Mapping[str, Any]], tuple[int | None, int | None]] = lambda body: (None, None)
    wrapping: int = WRAPPING


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at an address, with key, prices and settings."""

    protocol: Protocol
    model: str
    base_url: str
    key: str = field(default="", repr=False)
    price_in: float | None = None
    price_out: float | None = None
    left_out: frozenset[str] = frozenset()
    thinks: bool | None = None
    most_tokens: int | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings that differ from the defaults, by name."""
        values = {"leave_out": sorted(self.left_out), "thinks": self.thinks, "most_tokens": self.most_tokens}
        return {name: value for name, value in values.items() if value not in ([], None)}

    def fitted(self, question: Question) -> Question:
        """Return the question with the answer length that is set for this model."""
        return question if self.most_tokens is None else replace(question, most_tokens=self.most_tokens)

    @property
    def url(self) -> str:
        """Return the address for questions."""
        return self.at(self.protocol.path(self.model))

    def at(self, path: str) -> str:
        """Return the address of a path at the provider; query parameters of the base address, such as Azure's, are
        kept.

        Examples
        --------
        >>> from assay.llm.providers.openai import OPENAI
        >>> Endpoint(OPENAI, "a-model", "https://a.example/d/?api-version=1").at("/files")
        'https://a.example/d/files?api-version=1'
        """
        base = urlsplit(self.base_url)
        return urlunsplit(base._replace(path=base.path.rstrip("/") + path))

    def request(self, question: Question) -> bytes:
        """Return the body of the request as bytes."""
        body = json.dumps(self.body(question), ensure_ascii=False, separators=(",", ":"))
        # An unpaired surrogate is not a character, but JSON can contain it as an escape.
        return body.encode("utf-8", "backslashreplace")

    def body(self, question: Question) -> dict[str, Any]:
        """Return the body of the request as JSON, without the parameters that the model refuses."""
        reduced = replace(question, **{name: WITHOUT[name] for name in self.left_out})
        return self.protocol.body(reduced if self.thinks is None else replace(reduced, thinks=self.thinks), self.model)

    def unsupported(self, question: Question) -> tuple[str, ...]:
        """Return the parameters of the question that the request does not contain.

        Examples
        --------
        >>> from assay.llm.providers.openai import OPENAI
        >>> Endpoint(OPENAI, "o3", "http://localhost").unsupported(Question("a", "", "", seed=1))
        ('temperature',)
        """
        body = self.body(question)
        neutral = {name: without for name, without in WITHOUT.items() if getattr(question, name) != without}
        return tuple(
            name for name, without in neutral.items() if self.body(replace(question, **{name: without})) == body
        )

    def cost(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """Return the cost of these tokens in dollars.

        Examples
        --------
        >>> from assay.llm.providers.openai import OPENAI
        >>> Endpoint(OPENAI, "a-model", "http://localhost", price_in=2.0, price_out=8.0).cost(1_000, 50)
        0.0024
        """
        if self.price_in is None or self.price_out is None or tokens_in is None or tokens_out is None:
            return None
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1_000_000

    def most_read(self, request: bytes) -> int:
        """Return the maximum number of input tokens, because no tokenizer produces more tokens than bytes."""
        return len(request) + self.protocol.wrapping

    def without(self, names: frozenset[str]) -> Endpoint:
        """Return the same model without these parameters; ``thinks`` marks it as a reasoning model."""
        left_out = self.left_out | (names & WITHOUT.keys())
        return replace(self, left_out=left_out, thinks=True if "thinks" in names else self.thinks)

    def cost_at_most(
        self, tokens_in: int | None, tokens_out: int | None, most_in: int, most_out: int
    ) -> tuple[float | None, bool]:
        """Return the cost in dollars, or the maximum if nothing was counted, and whether it is the maximum.

        Examples
        --------
        >>> from assay.llm.providers.openai import OPENAI
        >>> Endpoint(OPENAI, "m", "http://localhost", price_in=2.0, price_out=8.0).cost_at_most(1_000, None, 4_000, 50)
        (0.0024, True)
        """
        cost = self.cost(most_in if tokens_in is None else tokens_in, most_out if tokens_out is None else tokens_out)
        return cost, cost is not None and (tokens_in is None or tokens_out is None)

    def most_cost(self, question: Question) -> float | None:
        """Return the maximum cost of a question: every byte a token, and the longest answer."""
        return self.cost(self.most_read(self.request(question)), question.most_tokens)


def odd_parameters(url: str) -> list[str]:
    """Return the query parameters of an address that are not allowed.

    Examples
    --------
    >>> odd_parameters("https://a.example/v1?api-version=2024-10-21&key=x")
    ['key']
    """
    parameters = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    return [name for name, _ in parameters if name not in ADDRESS_PARAMETERS]


def as_text(value: Any) -> str:
    """Return a field that must be text or missing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"text was expected, not {json.dumps(value)[:80]}")
    return value


def count(value: Any) -> int | None:
    """Return a token count, or None if the value is not plausible."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None


def address(url: str) -> str:
    """Return the address without user name and password, for files."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
