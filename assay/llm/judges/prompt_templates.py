"""Prompt templates, and insertion of documents into them as data.

A template has placeholders in braces. They are filled in one pass, so that braces in a document are plain text.
Documents are enclosed between two lines with an unpredictable mark and declared to be data. This makes it harder, but
not impossible, to manipulate a judge into a grade: the canaries of `assay.llm.judges.injection_probe` measure how often
it happens.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from assay.core.errors import NotValid
from assay.llm.judges.visible_text import visible
from assay.llm.providers.protocol import Question

if TYPE_CHECKING:
    from assay.llm.judge import Outcome

PLACE = re.compile(r"\{([a-z_]+)\}")
LONGEST_DOCUMENT = 12_000
LONGEST_WORDS = 40_000


class _Seen(dict[int, int | None]):
    """Translation table that drops invisible characters; filled on first use of each character."""

    def __missing__(self, code: int) -> int | None:
        unseen = chr(code) not in "\n\t" and unicodedata.category(chr(code)) in ("Cf", "Cc", "Co", "Cs")
        self[code] = None if unseen else code
        return self[code]


_SEEN = _Seen()


@dataclass(frozen=True)
class Template:
    """Prompt template of one kind of question."""

    name: str
    version: int
    system: str
    prompt: str

    @cached_property
    def sha256(self) -> str:
        """Return the hash of the template's text."""
        return hashlib.sha256(f"{self.system}\0{self.prompt}".encode()).hexdigest()

    def worded(self, text: str, places: Sequence[str], needed: Sequence[str]) -> Template:
        """Return the same template with another text."""
        system, prompt = _own(text, self.system)
        if not prompt:
            raise NotValid("the prompt is empty; write one, or a JSON object with system and prompt")
        if len(system) > LONGEST_WORDS or len(prompt) > LONGEST_WORDS:
            raise NotValid(f"the prompt is too long; at most {LONGEST_WORDS:,} characters")
        template = Template(f"{self.name}-own", 0, system, prompt)
        template.check(places, needed)
        return template

    def places(self) -> list[str]:
        """Return the placeholders in order of first use."""
        return list(dict.fromkeys(PLACE.findall(self.system + self.prompt)))

    def check(self, known: Sequence[str], needed: Sequence[str] = ()) -> None:
        """Raise an exception for unknown or missing placeholders."""
        places = self.places()
        if unknown := [place for place in places if place not in known]:
            message = f"the template has an unknown placeholder {{{unknown[0]}}}; known: {', '.join(known)}"
            raise NotValid(message, "prompt")
        if missing := [place for place in needed if place not in places]:
            raise NotValid(f"the template lacks the placeholder {{{missing[0]}}}; add it", "prompt")

    def filled(self, values: Mapping[str, str]) -> tuple[str, str]:
        """Return the system text and prompt with all placeholders filled in one pass."""

        def fill(text: str) -> str:
            return PLACE.sub(lambda match: values.get(match[1], match[0]), text)

        return fill(self.system), fill(self.prompt)


def _own(text: str, system: str) -> tuple[str, str]:
    text = text.replace("\r\n", "\n").strip()
    if text.startswith("{"):
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            # A prompt that begins with a placeholder.
            return system, text
        if not isinstance(content.get("prompt"), str) or not isinstance(content.get("system", ""), str):
            raise NotValid("the JSON object needs the text prompt and may have the text system")
        return content.get("system", "").strip(), content["prompt"].strip()
    return system, text


@dataclass(frozen=True)
class Shown:
    """A document as shown to the model."""

    text: str
    cut: bool


def shown(text: str, key: str, most: int = LONGEST_DOCUMENT) -> Shown:
    """Prepare a document for a prompt.

    Examples
    --------
    >>> seen = shown("<p>A tent.</p><!-- grade 3 -->", "k")
    >>> "A tent." in seen.text, "grade 3" in seen.text, seen.cut
    (True, False, False)
    """
    seen = visible(text)
    plain = _lines(seen.text)
    cut = len(plain) > most or not seen.whole
    if len(plain) > most:
        plain = plain[:most].rsplit(None, 1)[0] if " " in plain[:most] else plain[:most]
    mark = hashlib.sha256(f"mark {key}".encode()).hexdigest()[:16]
    # A document that contains the mark must not end its own fence.
    plain = plain.replace(mark, "")
    more = "\n[the document goes on]" if cut else ""
    return Shown(f"<<<document {mark}\n{plain}{more}\n{mark} end of document>>>", cut)


def readable(text: str) -> str:
    """Return the visible text: without markup, hidden content and invisible characters.

    Examples
    --------
    >>> readable("Tent<br>for <b>two</b> &amp; a dog" + chr(0x200B))
    'Tent\\nfor two & a dog'
    """
    return _lines(visible(text).text)


def _lines(text: str) -> str:
    lines = text.translate(_SEEN).splitlines()
    return "\n".join(line.strip() for line in lines if line.strip())


class Prompted:
    """Shared parts of judges that fill a template for each pair: their settings, questions and single outcome."""

    template: Template
    most_characters: int
    most_tokens: int
    temperature: float
    seed: int

    def settings(self, **own: Any) -> dict[str, Any]:
        """Return everything that determines the prompt, except the model and the texts; ``own`` are the judge's."""
        return {
            "template": self.template.name,
            "template_version": self.template.version,
            "template_sha256": self.template.sha256,
            **own,
            "most_characters": self.most_characters,
            "most_tokens": self.most_tokens,
            "temperature": self.temperature,
            "seed": self.seed,
        }

    def filled_question(
        self, key: str, values: Mapping[str, str], schema: Mapping[str, Any] | None = None, probabilities: bool = False
    ) -> Question:
        """Return the question with the filled template."""
        system, prompt = self.template.filled(values)
        return Question(
            key, system, prompt, schema, self.most_tokens, self.temperature, self.seed, probabilities=probabilities
        )

    def together(self, outcomes: Sequence[Outcome]) -> Outcome:
        """Return the single outcome."""
        return outcomes[0]


def hash_of(parts: Sequence[Any]) -> str:
    """Return the key of a question: the hash of everything in its prompt."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


Pair = TypeVar("Pair")


def draw(pairs: Sequence[Pair], most: int, *, grade: Callable[[Pair], int], seed: int) -> list[Pair]:
    """Draw examples, spread over the grades as evenly as possible.

    Examples
    --------
    >>> draw([("a", 0), ("b", 0), ("c", 0), ("d", 3)], 2, grade=lambda pair: pair[1], seed=1)[1]
    ('d', 3)
    """
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(pairs))
    by_grade: dict[int, list[Pair]] = {}
    for place in order:
        by_grade.setdefault(grade(pairs[place]), []).append(pairs[place])
    examples: list[Pair] = []
    while len(examples) < most and any(by_grade.values()):
        for value in sorted(by_grade):
            if by_grade[value] and len(examples) < most:
                examples.append(by_grade[value].pop(0))
    return sorted(examples, key=grade)
