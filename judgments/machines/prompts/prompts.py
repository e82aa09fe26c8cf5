"""Prompts of a collection with their versions, and the built-in prompts of Assay."""

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
# The purpose of a prompt, which follows from its placeholders.
GRADE, BATTLE, SAYS, ANSWER = "grade", "battle", "expected_answer", "downstream"
ASKS = {
    GRADE: "a grade",
    BATTLE: "which of two documents is better",
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
# The content of each placeholder, for authors of prompts.
FILLED_WITH = {
    "query": "the text of the query",
    "narrative": "the narrative of the query, if it has one",
    "guidelines": "the guidelines of the round",
    "scale": "the grades with their labels and cues",
    "examples": "pairs that people graded, if the judge uses examples",
    "document": "the document between two random markers",
    "first": "the document shown first in a pairwise comparison, between two random markers",
    "second": "the document shown second; prompts for comparisons have no document, scale or examples",
    "expected": "the expected answer; a prompt with it can also use query and document, but no other placeholder",
}


@dataclass(frozen=True)
class Named:
    """A prompt that a judge can use: a prompt of the collection or a built-in one."""

    value: str  # as forms and the API name it: "graded", or the version's uuid
    title: str
    template: Template
    version: PromptVersion | None = None

    @property
    def asks(self) -> str:
        """The purpose of the prompt: a key of `ASKS`."""
        return asks(self.template)


def asks(template: Template) -> str:
    """Return the purpose of a template by its placeholders; with only query and document, it asks for an answer."""
    places = set(template.places())
    if places & {"first", "second"}:
        return BATTLE
    if "expected" in places:
        return SAYS
    return ANSWER if places <= set(usefulness.PLACES) else GRADE


def of_kind(kind: str) -> str | None:
    """Return the purpose of prompts for a kind of judge; None for a kind that uses no prompt of a collection."""
    if kind == GRADED.name:
        return GRADE
    return kind if kind in (SAYS, ANSWER) else None


def template_of(version: PromptVersion) -> Template:
    """Return the version as a prompt template."""
    return Template(version.name, version.number, version.system, version.prompt)


def named(collection: Collection, asking: str = GRADE) -> list[Named]:
    """Return all prompts for one purpose: the collection's own first, newest first."""
    return [one for one in _all(collection) if one.asks == asking]


def find(collection: Collection, value: str, asking: str | None = GRADE) -> Named:
    """Return the prompt that a form or the API names; without ``asking`` its purpose does not matter."""
    prompt = next((one for one in _all(collection) if one.value == value), None)
    if prompt is None:
        raise NotValid("This prompt does not exist.", {"prompt": "Choose a prompt from the list."})
    if asking is not None and prompt.asks != asking:
        message = (
            f"The answer to this prompt is “{ASKS[prompt.asks]}”. Choose a prompt with the answer “{ASKS[asking]}”."
        )
        raise NotValid(message, "prompt")
    return prompt


def _all(collection: Collection) -> list[Named]:
    own = [Named(str(row.uuid), str(row), template_of(row), row) for row in collection.prompts.all()]
    come_along = [Named(one.name, f"{one.name} v{one.version}, built in", one) for one in BUILT_IN.values()]
    return [*own, *come_along]


@transaction.atomic
def add_version(
    collection: Collection, *, actor: User, name: str, system: str, prompt: str, note: str = "", asking: str = ""
) -> PromptVersion:
    """Store the next version of a prompt, or the first version of a new one."""
    name, template = name.strip(), check(name, system, prompt, asking)
    if not name or len(name) > 80 or name in BUILT_IN:
        message = "A built-in prompt has this name." if name in BUILT_IN else "Enter a name of at most 80 characters."
        raise NotValid("The prompt needs another name.", {"name": message})
    versions = collection.prompts.filter(name=name)
    last = versions.order_by("-number").first()
    if last is not None and (before := asks(template_of(last))) != asks(template):
        message = (
            f"The answer to {last} is “{ASKS[before]}”, but the answer to this prompt is “{ASKS[asks(template)]}”. "
            "Choose another name."
        )
        raise NotValid(message, "name")
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
    """Return the text as a template if its placeholders are known and complete."""
    system, prompt = (text.replace("\r\n", "\n").strip() for text in (system, prompt))
    for field, text in (("system", system), ("prompt", prompt)):
        if len(text) > LONGEST or "\0" in text:
            raise NotValid(
                "The prompt is too long or contains a NUL character.",
                {field: f"Use at most {LONGEST:,} characters without NUL."},
            )
    if not prompt:
        raise NotValid("The prompt is empty.", {"prompt": "Enter the text of the prompt."})
    template = replace(GRADED, name=name.strip() or "draft", version=0, system=system, prompt=prompt)
    if not asking:
        asking = GRADE if asks(template) == ANSWER else asks(template)
    template.check(*PLACES[asking])
    return template
