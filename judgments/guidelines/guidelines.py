"""Guideline versions: add a version, find the versions for a round, and compare two versions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import amount
from judgments.events.events import emit
from judgments.guidelines import examples
from judgments.models import Collection, Example, GuidelinesVersion, Round, RoundRater, User, audit
from judgments.models.fields import duplicates_raise

# The cost of comparing is about the product of both lengths. Longer differing parts count as replaced.
MOST_LINES = 4_000
MOST_WORDS = 400
# Two lines with less in common than this are a removed and an added line, not a changed one.
ALIKE = 0.4
WORDS = re.compile(r"\s+|\w+|[^\w\s]")


class Piece(NamedTuple):
    """A part of a line: ``kept``, ``removed`` or ``added``."""

    kind: str
    text: str


class Line(NamedTuple):
    """A line: ``kept``, ``removed``, ``added``, or ``changed`` with the words of both."""

    kind: str
    pieces: tuple[Piece, ...]


def changes(old: str, new: str) -> list[Line]:
    """Return all lines of both texts in reading order, each with its change."""
    before, after = old.split("\n"), new.split("\n")
    first, last = _common(before, after)
    lines = [_whole("kept", text) for text in before[:first]]
    lines += _between(before[first : len(before) - last], after[first : len(after) - last])
    return lines + [_whole("kept", text) for text in before[len(before) - last :]]


def _common(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Return the number of common first lines, and of common last lines among the others."""
    least = min(len(before), len(after))
    first = next((at for at in range(least) if before[at] != after[at]), least)
    left = least - first
    last = next((at for at in range(left) if before[-1 - at] != after[-1 - at]), left)
    return first, last


def _between(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    if max(len(before), len(after)) > MOST_LINES:
        return [*_all("removed", before), *_all("added", after)]
    lines: list[Line] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after).get_opcodes():
        if kind == "equal":
            lines += _all("kept", before[a:b])
        else:
            lines += _replaced(before[a:b], after[c:d])
    return lines


def _replaced(before: Sequence[str], after: Sequence[str]) -> Iterator[Line]:
    """Yield the changes of replaced lines; similar lines at the same position are one changed line."""
    pairs = min(len(before), len(after))
    for old, new in zip(before[:pairs], after[:pairs], strict=True):
        pieces = _words(old, new)
        if pieces is None:
            yield from (_whole("removed", old), _whole("added", new))
        else:
            yield Line("changed", tuple(pieces))
    yield from _all("removed", before[pairs:])
    yield from _all("added", after[pairs:])


def _words(old: str, new: str) -> list[Piece] | None:
    """Return the changes within a line; None if the lines have too little in common or too many words."""
    before, after = WORDS.findall(old), WORDS.findall(new)
    if max(len(before), len(after)) > MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < ALIKE:
        return None
    pieces = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            pieces.append(Piece("kept", "".join(before[a:b])))
            continue
        parts = (("removed", before[a:b]), ("added", after[c:d]))
        pieces += [Piece(kind, "".join(words)) for kind, words in parts if words]
    return pieces


def _whole(kind: str, text: str) -> Line:
    return Line(kind, (Piece(kind, text),))


def _all(kind: str, lines: Sequence[str]) -> list[Line]:
    return [_whole(kind, text) for text in lines]


LONGEST = 100_000
# The number of unchanged lines to show around a change; other lines are only counted.
AROUND = 2
# The SHA-256 of the templates of earlier versions.
EARLIER_TEMPLATES = {"9535b0da281506441bd54959a27edbdba7a64a15d731efedbedd0fffe92e11c2"}
# The template for a collection's first guidelines, to be filled with its own examples.
DEFAULT_TEMPLATE = """\
# How to grade

## Intent

Put yourself in the position of the person who typed the query. First read the need below the query, which says what \
the person wants. Grade how well **this document alone** serves that need. Ignore the documents before it.

If a query is ambiguous, grade for the meaning in the need. If there is no need, assume the most common meaning.

## The grades

| Grade | Name | Give it when | Example |
|---|---|---|---|
| 3 | Perfect | It is exactly what the person asked for. | "rain jacket women": a waterproof women's jacket |
| 2 | Good | The person would consider it, but a better document is likely. | a women's jacket that is water-repellent |
| 1 | Fair | The connection is clear, but it is not what the person wanted. | a rain jacket for men |
| 0 | Poor | It would not help at all. | a rain cover for a backpack |

Replace the examples with pairs of your own collection, at least one per grade.

## Edge cases

- **Another brand or model than in the query:** at most 1, unless the need allows alternatives.
- **A part or an accessory of the product in the query:** 1, or 0 if the query clearly means the product itself.
- **One of several attributes is wrong** (size, color, gender): one grade lower. If the need requires the \
attribute, at most 1.
- **A spelling mistake in the query:** grade the intended query.

## Duplicates

Grade each document by itself, even if you have just seen the same content under another title. Equal documents get \
equal grades.

## Freshness

Grade the current text of the document. Lower the grade of a sold-out product or a past event only if the need \
asks for something that is available now.

## When you cannot judge

Choose **Cannot judge** and select a reason if the text is missing or in a language that you do not read, or if you do \
not understand the need. Do not guess, because a guess looks like a judgment. To come back to a document, choose \
**Later**.
"""


@transaction.atomic
def add_version(
    collection: Collection, *, actor: User, markdown: str, written: Sequence[Example] = ()
) -> GuidelinesVersion:
    """Add the next version of the guidelines. Open rounds keep their version."""
    text = normalize(markdown)
    if not text.strip():
        raise NotValid(
            "The guidelines are empty.", {"markdown": "Write instructions for raters, or start from the template."}
        )
    if len(text) > LONGEST:
        raise NotValid(f"The text has {len(text):,} characters. The limit is {LONGEST:,}. Shorten it.", "markdown")
    last = latest(collection)
    if last is not None and last.sha256 == GuidelinesVersion.hash_of(text):
        raise NotValid(f"The text is identical to version {last.number}. Change it first.", "markdown")
    number = (GuidelinesVersion.objects.filter(collection=collection).aggregate(top=Max("number"))["top"] or 0) + 1
    with duplicates_raise(Conflict("Another user has just added a version. Read it before you add yours.")):
        version = GuidelinesVersion.objects.create(
            collection=collection,
            number=number,
            markdown=text,
            sha256=GuidelinesVersion.hash_of(text),
            created_by=actor,
        )
    examples.mark(written, version)
    sentence = f"{actor} added guidelines {version}"
    audit.record("guidelines.add_version", sentence, actor=actor, target=version, number=number)
    rates = User.objects.filter(invitations__round__collection=collection, invitations__left_at__isnull=True)
    raters = list(rates.filter(memberships__collection=collection).distinct())
    if number > 1 and raters:
        emit(
            "guidelines.changed",
            collection,
            text=f"{collection} has new guidelines. Your next round shows what changed.",
            page=reverse("home"),
            data={"guidelines": str(version.uuid), "number": number},
            raters=raters,
            actor=actor,
        )
    return version


def normalize(markdown: str) -> str:
    """Return the text with normalized line endings, as a version stores it."""
    return markdown.replace("\r\n", "\n").replace("\r", "\n").strip() + "\n"


def versions_for(collection: Collection, dimension: str = "") -> QuerySet[GuidelinesVersion]:
    """Return the versions for rounds of documents, or for rounds of answers of one dimension, newest first."""
    versions = GuidelinesVersion.objects.filter(collection=collection).order_by("-number")
    of_answers = Round.objects.filter(collection=collection).exclude(dimension="")
    if dimension:
        return versions.filter(pk__in=of_answers.filter(dimension=dimension).values("guidelines"))
    return versions.exclude(pk__in=of_answers.values("guidelines"))


def latest(collection: Collection, dimension: str = "") -> GuidelinesVersion | None:
    """Return the newest version, or None."""
    return versions_for(collection, dimension).first()


@lru_cache(maxsize=64)
def difference_of_texts(old: str, new: str) -> SafeString:
    """Return the changes between two texts as safe HTML, by line and word; the Markdown is not rendered."""
    lines = changes(old.rstrip("\n"), new.rstrip("\n"))
    if all(line.kind == "kept" for line in lines):
        return SafeString("")
    return format_html('<div class="difference" dir="auto">{}</div>', format_html_join("", "{}", _shown(lines)))


def _shown(lines: Sequence[Line]) -> Iterator[tuple[SafeString]]:
    """Yield the lines near a change, and the number of lines left out between them."""
    changed = [at for at, line in enumerate(lines) if line.kind != "kept"]
    near = {at + step for at in changed for step in range(-AROUND, AROUND + 1)}
    skipped = 0
    for at, line in enumerate(lines):
        if at not in near:
            skipped += 1
            continue
        if skipped:
            yield (_left_out(skipped),)
        skipped = 0
        yield (format_html('<p data-change="{}">{}</p>', line.kind, _pieces(line)),)
    if skipped:
        yield (_left_out(skipped),)


def _left_out(lines: int) -> SafeString:
    return format_html('<p class="muted small">{} unchanged</p>', amount(lines, "line"))


def _pieces(line: Line) -> SafeString:
    tags = {"kept": "{}", "removed": '<del><span class="sr">removed: </span>{}</del>'}
    tags["added"] = '<ins><span class="sr">added: </span>{}</ins>'
    pieces = [piece for piece in line.pieces if piece.text]
    if not pieces:  # an empty line would have no height
        return SafeString("\N{NO-BREAK SPACE}")
    return format_html_join("", "{}", ((format_html(tags[piece.kind], piece.text),) for piece in pieces))


def is_template(version: GuidelinesVersion) -> bool:
    """Return whether the version is the default template, unchanged."""
    return version.sha256 in {GuidelinesVersion.hash_of(DEFAULT_TEMPLATE), *EARLIER_TEMPLATES}


@dataclass(frozen=True)
class News:
    """The version that a rater knows, the round's version, and the changes, which are shown once."""

    old: GuidelinesVersion
    new: GuidelinesVersion

    @property
    def difference(self) -> SafeString:
        return difference_of_texts(self.old.markdown, self.new.markdown)


def news(round_: Round, rater: User) -> News | None:
    """Return the changes since the rater last rated in the collection; None if there are none or they were read."""
    unread = round_.raters.filter(user=rater, guidelines_read_at__isnull=True)
    if round_.guidelines.number == 1 or not unread.exists():
        return None
    # Guidelines for answers and for documents are different texts, so their difference has no meaning.
    alike = round_.collection.rounds.filter(dimension=round_.dimension).exclude(pk=round_.pk)
    known = RoundRater.objects.filter(user=rater, round__in=alike)
    rated = Q(guidelines_read_at__isnull=False) | Q(round__pairs__judgments__rater=rater)
    older = GuidelinesVersion.objects.filter(
        collection=round_.collection,
        number__lt=round_.guidelines.number,
        rounds__in=known.filter(rated).values("round"),
    )
    newest = older.order_by("-number").first()
    return News(newest, round_.guidelines) if newest else None


def mark_read(round_: Round, rater: User) -> None:
    """Record that the rater has read the round's version; only the first time counts."""
    round_.raters.filter(user=rater, guidelines_read_at__isnull=True).update(guidelines_read_at=timezone.now())
