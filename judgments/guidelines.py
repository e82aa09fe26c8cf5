"""What are raters told, and how does a new version come about?"""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import Max

from judgments import audit
from judgments.core.errors import Conflict, NotValid
from judgments.models import Collection, GuidelinesVersion, User

LONGEST = 100_000
# What a lead starts from: every part that raters will ask about, to be filled with the collection's own examples.
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
def add_version(collection: Collection, *, actor: User, markdown: str) -> GuidelinesVersion:
    """Add the next version of the guidelines; rounds that are open keep theirs.

    Raises
    ------
    NotValid
        When the text is empty, too long, or the same as in the last version.
    Conflict
        When somebody else added a version at the same moment.
    """
    text = markdown.replace("\r\n", "\n").strip() + "\n"
    if not text.strip():
        raise NotValid(
            "Guidelines need a text.", {"markdown": "Write what raters should do, or start from the template."}
        )
    if len(text) > LONGEST:
        said = f"{len(text):,} characters; raters read {LONGEST:,} at most, and few read that much."
        raise NotValid(said, {"markdown": said})
    last = latest(collection)
    if last is not None and last.sha256 == GuidelinesVersion.hash_of(text):
        said = f"This is word for word version {last.number}. Change it first."
        raise NotValid(said, {"markdown": said})
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
        raise Conflict("Somebody else added a version just now. Read it, then add yours.") from error
    sentence = f"{actor} added guidelines {version}"
    audit.record("guidelines.add_version", sentence, actor=actor, collection=collection, target=version, number=number)
    return version


def latest(collection: Collection) -> GuidelinesVersion | None:
    """The newest version, if there is one."""
    return GuidelinesVersion.objects.filter(collection=collection).order_by("-number").first()
