"""Prompts of a collection, version by version, and the prompts that come with Assay."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db import IntegrityError, transaction
from django.db.models import Max

from assay.core.errors import Conflict, NotValid
from assay.llm.judges import expected_answer, graded_relevance, pairwise, usefulness
from assay.llm.judges.expected_answer import EXPECTED_ANSWER
from assay.llm.judges.graded_relevance import BINARY, GRADED
from assay.llm.judges.pairwise import PAIRWISE
from assay.llm.judges.prompt_templates import Template
from assay.llm.judges.usefulness import DOWNSTREAM_TEMPLATE
from judgments.models import Collection, PromptVersion, User, audit

BUILT_IN = {template.name: template for template in (GRADED, BINARY, PAIRWISE, EXPECTED_ANSWER, DOWNSTREAM_TEMPLATE)}
LONGEST = 40_000
# What a prompt asks for, which follows from its placeholders.
GRADE, BATTLE, SAYS, ANSWER = "grade", "battle", "expected_answer", "downstream"
ASKS = {
    GRADE: "a grade",
    BATTLE: "which of two is better",
    SAYS: "whether a document contains an expected answer",
    ANSWER: "an answer from the document",
}
PLACES = {
    GRADE: (graded_relevance.PLACES, graded_relevance.NEEDED),
    BATTLE: (pairwise.PLACES, pairwise.NEEDED),
    SAYS: (expected_answer.PLACES, expected_answer.PLACES),
    ANSWER: (usefulness.PLACES, usefulness.PLACES),
}
# The built-in prompt of each kind, used if none is chosen.
USUAL = {GRADE: GRADED.name, BATTLE: PAIRWISE.name, SAYS: EXPECTED_ANSWER.name, ANSWER: DOWNSTREAM_TEMPLATE.name}
# The content of each placeholder, for people who write prompts.
FILLED_WITH = {
    "query": "what was typed",
    "narrative": "the narrative of the query, if it has one",
    "guidelines": "the guidelines of the round",
    "scale": "the grades with their labels and cues",
    "examples": "pairs that people graded, if the judge uses examples",
    "document": "the document between two random markers",
    "first": "the document shown first in a pairwise comparison, between two random markers",
    "second": "the document shown second; prompts for comparisons have no document, scale or examples",
    "expected": "the expected answer; a prompt that asks for it uses only this, query and document",
}


@dataclass(frozen=True)
class Named:
    """A prompt that a judge can use: one of the collection's, or one that comes with Assay."""

    value: str  # as forms and the API name it: "graded", or the version's uuid
    title: str
    template: Template
    version: PromptVersion | None = None

    @property
    def asks(self) -> str:
        """What the prompt asks for: a key of `ASKS`."""
        return asks(self.template)


def asks(template: Template) -> str:
    """Return what a template asks for, from its placeholders: an answer if it has only query and document."""
    places = set(template.places())
    if places & {"first", "second"}:
        return BATTLE
    if "expected" in places:
        return SAYS
    return ANSWER if places <= set(usefulness.PLACES) else GRADE


def of_kind(kind: str) -> str | None:
    """Return what prompts of a kind of judge ask for; None for a kind that uses no prompt of a collection."""
    if kind == GRADED.name:
        return GRADE
    return kind if kind in (SAYS, ANSWER) else None


def template_of(version: PromptVersion) -> Template:
    """Return the version as a prompt template."""
    return Template(version.name, version.number, version.system, version.prompt)


def named(collection: Collection, asking: str = GRADE) -> list[Named]:
    """Return all prompts that ask for one thing: the collection's own first, the newest first."""
    return [one for one in _all(collection) if one.asks == asking]


def find(collection: Collection, value: str, asking: str | None = GRADE) -> Named:
    """Return the prompt that a form or the API names. ``asking`` None accepts a prompt of any purpose.

    Raises
    ------
    NotValid
        There is none, or it asks for something else.
    """
    prompt = next((one for one in _all(collection) if one.value == value), None)
    if prompt is None:
        raise NotValid("This prompt does not exist.", {"prompt": "Choose a prompt from the list."})
    if asking is not None and prompt.asks != asking:
        message = f"This prompt asks for {ASKS[prompt.asks]}. Choose one that asks for {ASKS[asking]}."
        raise NotValid(message, {"prompt": message})
    return prompt


def _all(collection: Collection) -> list[Named]:
    own = [Named(str(row.uuid), str(row), template_of(row), row) for row in collection.prompts.all()]
    come_along = [Named(one.name, f"{one.name} v{one.version}, built in", one) for one in BUILT_IN.values()]
    return [*own, *come_along]


@transaction.atomic
def add_version(
    collection: Collection, *, actor: User, name: str, system: str, prompt: str, note: str = "", asking: str = ""
) -> PromptVersion:
    """Store the next version of a prompt, or the first of a new one; `asking` as in `check`.

    Judges that were made with earlier versions keep theirs.

    Raises
    ------
    NotValid
        By field: no name, a place that nothing fills, or one that has to be there is missing. The versions of a prompt
        all ask for the same.
    Conflict
        It is word for word the version before, or somebody else stored one at this moment.
    """
    name, template = name.strip(), check(name, system, prompt, asking)
    if not name or len(name) > 80 or name in BUILT_IN:
        message = (
            "This is the name of a built-in prompt." if name in BUILT_IN else "Enter a name of at most 80 characters."
        )
        raise NotValid("The prompt needs another name.", {"name": message})
    versions = collection.prompts.filter(name=name)
    last = versions.order_by("-number").first()
    if last is not None and (before := asks(template_of(last))) != asks(template):
        message = (
            f"{last} asks for {ASKS[before]}, but this prompt asks for {ASKS[asks(template)]}. Choose another name."
        )
        raise NotValid(message, {"name": message})
    if last is not None and last.sha256 == template.sha256:
        message = f"The prompt is identical to version {last.number}. Nothing was stored."
        raise Conflict(message, {"prompt": message})
    number = (versions.aggregate(most=Max("number"))["most"] or 0) + 1
    try:
        with transaction.atomic():
            made = PromptVersion.objects.create(
                collection=collection,
                name=name,
                number=number,
                system=template.system,
                prompt=template.prompt,
                sha256=template.sha256,
                note=note.strip()[:500],
                created_by=actor,
            )
    except IntegrityError as error:
        raise Conflict("Another lead stored a version at the same time. Review it first.") from error
    sentence = f"{actor} created the prompt {made}"
    audit.record("prompts_kept.add_version", sentence, actor=actor, collection=collection, target=made)
    return made


def check(name: str, system: str, prompt: str, asking: str = "") -> Template:
    """Return the words as a template if its placeholders are known and complete.

    What they ask for is told by their places unless it is said. That they ask for no more than an answer has to be: a
    prompt for grades that forgets the scale looks the same.

    Raises
    ------
    NotValid
        By field.
    """
    system, prompt = (text.replace("\r\n", "\n").strip() for text in (system, prompt))
    for field, text in (("system", system), ("prompt", prompt)):
        if len(text) > LONGEST or "\0" in text:
            raise NotValid(
                "The prompt is too long or contains a NUL character.",
                {field: f"Use at most {LONGEST:,} characters without NUL."},
            )
    if not prompt:
        raise NotValid("The prompt is empty.", {"prompt": "Enter the prompt."})
    template = replace(GRADED, name=name.strip() or "draft", version=0, system=system, prompt=prompt)
    if not asking:
        asking = GRADE if asks(template) == ANSWER else asks(template)
    template.check(*PLACES[asking])
    return template
