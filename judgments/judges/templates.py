"""Prompt templates, and insertion of documents into them as data.

A template has placeholders in braces. They are filled in one pass, so that braces in a document are plain text.
Documents are enclosed between two lines with an unpredictable mark and declared to be data. That makes it harder to
manipulate a judge into a grade, but not impossible: the canaries of `judgments.judges.canaries` measure how often
it happens.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from judgments.core.errors import NotValid
from judgments.judges.visible import visible

PLACE = re.compile(r"\{([a-z_]+)\}")
LONGEST_DOCUMENT = 12_000
LONGEST_WORDS = 40_000


class _Seen(dict[int, int | None]):
    """Drops what cannot be seen; learns each character when it first comes up."""

    def __missing__(self, code: int) -> int | None:
        unseen = chr(code) not in "\n\t" and unicodedata.category(chr(code)) in ("Cf", "Cc", "Co", "Cs")
        self[code] = None if unseen else code
        return self[code]


_SEEN = _Seen()


@dataclass(frozen=True)
class Template:
    """Words for one kind of question.

    Parameters
    ----------
    name : str
        What it is called.
    version : int
        Raised with every change of the words.
    system, prompt : str
        Who the model is to be, and the question with its places.
    """

    name: str
    version: int
    system: str
    prompt: str

    @cached_property
    def sha256(self) -> str:
        """Of the words: it changes with them, whatever the version says."""
        return hashlib.sha256(f"{self.system}\0{self.prompt}".encode()).hexdigest()

    def worded(self, text: str, places: Sequence[str], needed: Sequence[str]) -> Template:
        """The same question in other words.

        Parameters
        ----------
        text : str
            The prompt, asked with this template's system words; or a JSON object with ``system`` and ``prompt``, of
            which the first may be missing or empty, for none.
        places, needed : sequence of str
            As `check` takes them.

        Raises
        ------
        NotValid
            It says nothing, is too long, or is told what nothing fills or not told what is needed.
        """
        system, prompt = _own(text, self.system)
        if not prompt:
            raise NotValid("there is no prompt; write one, or a JSON object with system and prompt")
        if len(system) > LONGEST_WORDS or len(prompt) > LONGEST_WORDS:
            raise NotValid(f"the words are too long; {LONGEST_WORDS:,} characters at most")
        found = Template(f"{self.name}-own", 0, system, prompt)
        found.check(places, needed)
        return found

    def places(self) -> list[str]:
        """The places in the order in which they first stand."""
        return list(dict.fromkeys(PLACE.findall(self.system + self.prompt)))

    def check(self, known: Sequence[str], needed: Sequence[str] = ()) -> None:
        """That every place can be filled, and what has to be told is.

        Raises
        ------
        NotValid
            With the place and the known ones.
        """
        places = self.places()
        if unknown := [place for place in places if place not in known]:
            said = f"the template has a place {{{unknown[0]}}} that nothing fills; known: {', '.join(known)}"
            raise NotValid(said, {"prompt": said})
        if missing := [place for place in needed if place not in places]:
            said = f"the template does not tell the model {{{missing[0]}}}; put it where it belongs"
            raise NotValid(said, {"prompt": said})

    def filled(self, values: Mapping[str, str]) -> tuple[str, str]:
        """System and prompt with the places filled, in one pass: what is filled in is never looked through again."""

        def fill(text: str) -> str:
            return PLACE.sub(lambda found: values.get(found[1], found[0]), text)

        return fill(self.system), fill(self.prompt)


def _own(text: str, system: str) -> tuple[str, str]:
    text = text.replace("\r\n", "\n").strip()
    if text.startswith("{"):
        try:
            told = json.loads(text)
        except (ValueError, RecursionError):
            # A prompt that begins with a place.
            return system, text
        if not isinstance(told.get("prompt"), str) or not isinstance(told.get("system", ""), str):
            raise NotValid("a JSON object has a prompt, and perhaps a system, and both are texts")
        return told.get("system", "").strip(), told["prompt"].strip()
    return system, text


@dataclass(frozen=True)
class Shown:
    """A document as a model sees it.

    Parameters
    ----------
    text : str
        Between its two marks.
    cut : bool
        Whether it was longer than what is shown.
    """

    text: str
    cut: bool


def shown(text: str, key: str, most: int = LONGEST_DOCUMENT) -> Shown:
    """Make a document ready to stand in a prompt.

    Parameters
    ----------
    text : str
        Plain or HTML; what a reader would not see is taken out.
    key : str
        What the mark is drawn from: the same key gives the same prompt, so that an answer can be found again.
    most : int
        Characters at most; cut at a word, and told.

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
    # A document that holds the mark by chance or by intent does not end its own fence.
    plain = plain.replace(mark, "")
    more = "\n[the document goes on]" if cut else ""
    return Shown(f"<<<document {mark}\n{plain}{more}\n{mark} end of document>>>", cut)


def readable(text: str) -> str:
    """The text that a reader sees: without markup, what markup hides, and characters that cannot be seen.

    Examples
    --------
    >>> readable("Tent<br>for <b>two</b> &amp; a dog" + chr(0x200B))
    'Tent\\nfor two & a dog'
    """
    return _lines(visible(text).text)


def _lines(text: str) -> str:
    lines = text.translate(_SEEN).splitlines()
    return "\n".join(line.strip() for line in lines if line.strip())
