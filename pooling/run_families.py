"""Model family of a run, as its owner declares it."""

from __future__ import annotations

from django import forms
from django.db import transaction

from judgments import audit
from judgments.judges.families import FAMILIES, LONGEST, NO_MODEL, System, declared_family
from judgments.models import Collection, Upload, User
from pooling.models import Run

HELP = (
    f"Whose model writes, reranks or embeds in this system: {', '.join(FAMILIES)}, or another maker’s name; {NO_MODEL} "
    "where no language model has a part. Left empty, the run’s name is looked at."
)


@transaction.atomic
def declare(run: Run, *, family: str, actor: User) -> None:
    """Say of which family the system's language model is, so that judges of that family are warned of.

    Raises
    ------
    NotValid
        As `declared_family`.
    """
    said = declared_family(family)
    if said == run.generator_family:
        return
    before, run.generator_family = run.generator_family, said
    run.save(update_fields=["generator_family"])
    sentence = f"{actor} declared the model family of run {run}: {said or 'not known'}"
    names = {"before": before, "after": said}
    audit.record("run_families.declare", sentence, actor=actor, collection=run.collection, target=run, **names)


def systems(collection: Collection) -> list[System]:
    """The collection's runs, as `judgments.kinship` wants to know them."""
    rows = collection.runs.order_by("name").values_list("name", "generator_family", "description")
    return [System(*row) for row in rows]


def family_field() -> forms.CharField:
    """The question on a page."""
    label = "Family of its language model (optional)"
    return forms.CharField(label=label, required=False, max_length=LONGEST, help_text=HELP)


def questions(upload: Upload) -> dict[str, forms.Field]:
    """What is asked of a run before it is stored."""
    return {"generator_family": family_field()}
