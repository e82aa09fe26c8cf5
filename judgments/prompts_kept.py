"""In which words does a collection ask models, version by version, and what would other words get answered?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db import IntegrityError, transaction
from django.db.models import Max

from judgments import audit
from judgments.core.errors import Conflict, NotValid
from judgments.judges.graded import BINARY, GRADED, NEEDED, PLACES
from judgments.judges.templates import Template
from judgments.models import Collection, PromptVersion, User

BUILT_IN = {template.name: template for template in (GRADED, BINARY)}
LONGEST = 40_000
# What a place is filled with, for those who write.
FILLED_WITH = {
    "query": "what was typed",
    "narrative": "what the need behind the query says, if it says anything",
    "guidelines": "the guidelines of the round, word for word",
    "scale": "the grades with their labels and cues",
    "examples": "pairs that people graded, if any are to be shown",
    "document": "the document between two marks that it cannot know",
}


@dataclass(frozen=True)
class Named:
    """A prompt that a judge can be made with: one of the collection's, or one that comes with Assay."""

    value: str  # as forms and the API name it: "graded", or the version's uuid
    title: str
    template: Template
    version: PromptVersion | None = None


def template_of(version: PromptVersion) -> Template:
    """The version as what a judge is asked with."""
    return Template(version.name, version.number, version.system, version.prompt)


def named(collection: Collection) -> list[Named]:
    """All prompts that a judge of the collection can be made with, its own first, newest first."""
    own = [Named(str(row.uuid), str(row), template_of(row), row) for row in collection.prompts.all()]
    come_along = [Named(one.name, f"{one.name} v{one.version}, comes with Assay", one) for one in BUILT_IN.values()]
    return [*own, *come_along]


def find(collection: Collection, value: str) -> Named:
    """The prompt that a form or the API names.

    Raises
    ------
    NotValid
        There is none.
    """
    found = next((one for one in named(collection) if one.value == value), None)
    if found is None:
        raise NotValid("There is no such prompt.", {"prompt": "Choose one of the list."})
    return found


@transaction.atomic
def add_version(
    collection: Collection, *, actor: User, name: str, system: str, prompt: str, note: str = ""
) -> PromptVersion:
    """Store the next version of a prompt, or the first of a new one.

    Judges that were made with earlier versions keep theirs.

    Raises
    ------
    NotValid
        By field: no name, a place that nothing fills, or one of query, scale and document is missing.
    Conflict
        It is word for word the version before, or somebody else stored one at this moment.
    """
    name, template = name.strip(), check(name, system, prompt)
    if not name or len(name) > 80 or name in BUILT_IN:
        said = "This name belongs to a prompt that comes with Assay." if name in BUILT_IN else "Give it a name."
        raise NotValid("The prompt needs a name of its own.", {"name": said})
    versions = collection.prompts.filter(name=name)
    last = versions.order_by("-number").first()
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


def check(name: str, system: str, prompt: str) -> Template:
    """The words as a template, if every place in them can be filled and what has to be told is.

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
    template.check(PLACES, NEEDED)
    return template
