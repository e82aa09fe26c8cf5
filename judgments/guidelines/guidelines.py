"""Guideline versions: add one, find those for a round, and compare two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from django.db import IntegrityError, transaction
from django.db.models import Max, QuerySet
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from assay.core.counted_nouns import amount
from assay.core.errors import Conflict, NotValid
from judgments.guidelines import examples, text_diff
from judgments.models import Collection, Example, GuidelinesVersion, Round, User, audit

LONGEST = 100_000
# The number of unchanged lines to show around a change; further lines are counted.
AROUND = 2
# The template for a collection's first guidelines, to be filled with its own examples.
DEFAULT_TEMPLATE = """\
# How to grade

## Intent

Put yourself in the place of the person who typed the query. Read the need under it first: it says what they want, \
and what would not help them. Grade how well **this document alone** serves that need. Forget the documents before it.

When a query can mean several things, grade for the meaning that the need names. When there is no need, take the \
meaning that most people would have.

## The grades

| Grade | Name | Give it when | Example |
|---|---|---|---|
| 3 | Perfect | It is just what was asked for; the search is over. | "rain jacket women": a waterproof women's jacket |
| 2 | Good | It would be considered, though a better one is likely. | a women's jacket that is water-repellent |
| 1 | Fair | The connection is clear, and it is not what was wanted. | a rain jacket for men |
| 0 | Poor | It would not help at all. | a rain cover for a backpack |

Replace the examples with pairs of your own collection, at least one a grade.

## Edge cases

- **Brand or model asked for, another one shown:** at most 1, unless the need says that an alternative is welcome.
- **A part or an accessory of the thing asked for:** 1; 0 when the query clearly means the thing itself.
- **One of several attributes is wrong** (size, color, gender): one grade lower. A wrong attribute that the need calls \
a must: at most 1.
- **A spelling mistake in the query:** grade what was meant.

## Duplicates

Grade each document by itself, also when you have just seen the same thing under another title. Two equal documents \
get equal grades.

## Freshness

Grade what the document says today. A product that is sold out or an event that is over counts only where the need \
asks for something that can be had now.

## When you cannot judge

Choose **Cannot judge** and say why, when the text is missing, in a language that you do not read, or when the need \
cannot be understood. Do not guess: a guess looks like a judgment. Choose **Later** when you want to come back to it.
"""


@transaction.atomic
def add_version(
    collection: Collection, *, actor: User, markdown: str, written: Sequence[Example] = ()
) -> GuidelinesVersion:
    """Add the next version of the guidelines. Open rounds keep their version.

    Parameters
    ----------
    collection : Collection
        The collection of the guidelines.
    actor : User
        The lead who wrote it.
    markdown : str
        The text.
    written : sequence of Example
        The pending examples that the text contains.

    Raises
    ------
    NotValid
        The text is empty, too long, or identical to the last version.
    Conflict
        Another user added a version at the same moment.
    """
    text = normalize(markdown)
    if not text.strip():
        raise NotValid(
            "The guidelines are empty.", {"markdown": "Write what raters should do, or start from the template."}
        )
    if len(text) > LONGEST:
        problem = f"The text has {len(text):,} characters. The limit is {LONGEST:,}. Shorten it."
        raise NotValid(problem, {"markdown": problem})
    last = latest(collection)
    if last is not None and last.sha256 == GuidelinesVersion.hash_of(text):
        problem = f"The text is identical to version {last.number}. Change it first."
        raise NotValid(problem, {"markdown": problem})
    number = (GuidelinesVersion.objects.filter(collection=collection).aggregate(top=Max("number"))["top"] or 0) + 1
    try:
        with transaction.atomic():
            version = GuidelinesVersion.objects.create(
                collection=collection,
                number=number,
                markdown=text,
                sha256=GuidelinesVersion.hash_of(text),
                created_by=actor,
            )
    except IntegrityError as error:
        raise Conflict("Another user has just added a version. Read it, then add yours.") from error
    examples.mark(written, version)
    sentence = f"{actor} added guidelines {version}"
    audit.record("guidelines.add_version", sentence, actor=actor, collection=collection, target=version, number=number)
    return version


def normalize(markdown: str) -> str:
    """Return the text with normalized line ends, as a version stores it."""
    return markdown.replace("\r\n", "\n").replace("\r", "\n").strip() + "\n"


def versions_for(collection: Collection, dimension: str = "") -> QuerySet[GuidelinesVersion]:
    """Return the versions for rounds of documents, or for rounds of answers of one dimension, the newest first.

    Versions used for answers do not apply to documents. A version without a round is for documents.
    """
    versions = GuidelinesVersion.objects.filter(collection=collection).order_by("-number")
    of_answers = Round.objects.filter(collection=collection).exclude(dimension="")
    if dimension:
        return versions.filter(pk__in=of_answers.filter(dimension=dimension).values("guidelines"))
    return versions.exclude(pk__in=of_answers.values("guidelines"))


def latest(collection: Collection, dimension: str = "") -> GuidelinesVersion | None:
    """Return the newest version, or None."""
    return versions_for(collection, dimension).first()


def difference(old: GuidelinesVersion, new: GuidelinesVersion) -> SafeString:
    """Return the changes between two versions, as from :func:`difference_of_texts`."""
    return difference_of_texts(old.markdown, new.markdown)


@lru_cache(maxsize=64)
def difference_of_texts(old: str, new: str) -> SafeString:
    """Return the changes between two texts as safe HTML, by line and word; the Markdown is not rendered.

    Parameters
    ----------
    old, new : str
        The Markdown of two versions, the older first.

    Returns
    -------
    SafeString
        ``<div class="difference">`` with a paragraph per line; empty if the texts are equal.
    """
    lines = text_diff.changes(old.rstrip("\n"), new.rstrip("\n"))
    if all(line.kind == "kept" for line in lines):
        return SafeString("")
    return format_html('<div class="difference" dir="auto">{}</div>', format_html_join("", "{}", _shown(lines)))


def _shown(lines: Sequence[text_diff.Line]) -> Iterator[tuple[SafeString]]:
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


def _pieces(line: text_diff.Line) -> SafeString:
    tags = {"kept": "{}", "removed": '<del><span class="sr">removed: </span>{}</del>'}
    tags["added"] = '<ins><span class="sr">added: </span>{}</ins>'
    pieces = [piece for piece in line.pieces if piece.text]
    if not pieces:  # an empty line would have no height
        return SafeString("\N{NO-BREAK SPACE}")
    return format_html_join("", "{}", ((format_html(tags[piece.kind], piece.text),) for piece in pieces))
