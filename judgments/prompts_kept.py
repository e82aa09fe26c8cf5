"""Prompts of a collection, version by version, and the prompts that come with Assay."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db import IntegrityError, transaction
from django.db.models import Max

from judgments import audit
from judgments.core.errors import Conflict, NotValid
from judgments.judges import downstream, expected_answer, graded, pairwise
from judgments.judges.downstream import DOWNSTREAM_TEMPLATE
from judgments.judges.expected_answer import EXPECTED_ANSWER
from judgments.judges.graded import BINARY, GRADED
from judgments.judges.pairwise import PAIRWISE
from judgments.judges.templates import Template
from judgments.models import Collection, PromptVersion, User

BUILT_IN = {template.name: template for template in (GRADED, BINARY, PAIRWISE, EXPECTED_ANSWER, DOWNSTREAM_TEMPLATE)}
LONGEST = 40_000
# What a prompt asks for; stored words tell it by their places.
GRADE, BATTLE, SAYS, ANSWER = "grade", "battle", "expected_answer", "downstream"
ASKS = {
    GRADE: "a grade",
    BATTLE: "which of two is better",
    SAYS: "whether it says an expected answer",
    ANSWER: "an answer from the document",
}
PLACES = {
    GRADE: (graded.PLACES, graded.NEEDED),
    BATTLE: (pairwise.PLACES, pairwise.NEEDED),
    SAYS: (expected_answer.PLACES, expected_answer.PLACES),
    ANSWER: (downstream.PLACES, downstream.PLACES),
}
# What comes with Assay, where nobody names a prompt.
USUAL = {GRADE: GRADED.name, BATTLE: PAIRWISE.name, SAYS: EXPECTED_ANSWER.name, ANSWER: DOWNSTREAM_TEMPLATE.name}
# What a place is filled with, for those who write.
FILLED_WITH = {
    "query": "what was typed",
    "narrative": "what the need behind the query says, if it says anything",
    "guidelines": "the guidelines of the round, word for word",
    "scale": "the grades with their labels and cues",
    "examples": "pairs that people graded, if any are to be shown",
    "document": "the document between two marks that it cannot know",
    "first": "of two documents that meet in a battle the one that is shown first, between such marks",
    "second": "the other one; a prompt for battles has these two in place of the document, scale and examples",
    "expected": "the expected answer; a prompt that asks whether a text says it has this, query and document alone",
}


@dataclass(frozen=True)
class Named:
    """A prompt that a judge can be made with: one of the collection's, or one that comes with Assay."""

    value: str  # as forms and the API name it: "graded", or the version's uuid
    title: str
    template: Template
    version: PromptVersion | None = None

    @property
    def asks(self) -> str:
        """A key of `ASKS`."""
        return asks(self.template)


def asks(template: Template) -> str:
    """What the words ask for, by their places: with nothing but query and document an answer, and no grade."""
    places = set(template.places())
    if places & {"first", "second"}:
        return BATTLE
    if "expected" in places:
        return SAYS
    return ANSWER if places <= set(downstream.PLACES) else GRADE


def of_kind(kind: str) -> str | None:
    """What prompts of a kind of judge ask for; None for one that is asked in no words of a collection."""
    if kind == GRADED.name:
        return GRADE
    return kind if kind in (SAYS, ANSWER) else None


def template_of(version: PromptVersion) -> Template:
    """The version as what a judge is asked with."""
    return Template(version.name, version.number, version.system, version.prompt)


def named(collection: Collection, asking: str = GRADE) -> list[Named]:
    """All prompts that ask for one thing: the collection's own first, newest first."""
    return [one for one in _all(collection) if one.asks == asking]


def find(collection: Collection, value: str, asking: str | None = GRADE) -> Named:
    """The prompt that a form or the API names; None takes one that asks for whatever it be.

    Raises
    ------
    NotValid
        There is none, or it asks for something else.
    """
    found = next((one for one in _all(collection) if one.value == value), None)
    if found is None:
        raise NotValid("There is no such prompt.", {"prompt": "Choose one of the list."})
    if asking is not None and found.asks != asking:
        said = f"This prompt asks for {ASKS[found.asks]}, and here one is needed that asks for {ASKS[asking]}."
        raise NotValid(said, {"prompt": said})
    return found


def _all(collection: Collection) -> list[Named]:
    own = [Named(str(row.uuid), str(row), template_of(row), row) for row in collection.prompts.all()]
    come_along = [Named(one.name, f"{one.name} v{one.version}, comes with Assay", one) for one in BUILT_IN.values()]
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
        said = "This name belongs to a prompt that comes with Assay." if name in BUILT_IN else "Give it a name."
        raise NotValid("The prompt needs a name of its own.", {"name": said})
    versions = collection.prompts.filter(name=name)
    last = versions.order_by("-number").first()
    if last is not None and (before := asks(template_of(last))) != asks(template):
        said = f"{last} asks for {ASKS[before]}, these words for {ASKS[asks(template)]}: take another name."
        raise NotValid(said, {"name": said})
    if last is not None and last.sha256 == template.sha256:
        said = f"This is word for word version {last.number}: there is nothing to store."
        raise Conflict(said, {"prompt": said})
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
        raise Conflict("Somebody stored a version at the same moment. Look at it first.") from error
    sentence = f"{actor} wrote {made} of the prompts"
    audit.record("prompts_kept.add_version", sentence, actor=actor, collection=collection, target=made)
    return made


def check(name: str, system: str, prompt: str, asking: str = "") -> Template:
    """The words as a template, if every place in them can be filled and what has to be told is.

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
            raise NotValid("A prompt is too long.", {field: f"{LONGEST:,} characters at most."})
    if not prompt:
        raise NotValid("The prompt says nothing.", {"prompt": "Fill this in."})
    template = replace(GRADED, name=name.strip() or "draft", version=0, system=system, prompt=prompt)
    if not asking:
        asking = GRADE if asks(template) == ANSWER else asks(template)
    template.check(*PLACES[asking])
    return template
