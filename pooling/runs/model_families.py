"""Model family of a run, as declared by its owner."""

from __future__ import annotations

from django import forms
from django.db import transaction

from assay.llm.judges.model_families import FAMILIES, LONGEST, NO_MODEL, System, declared_family
from judgments.models import Collection, Upload, User, audit
from pooling.models import Run

HELP = (
    f"The family of the language model in this system: {', '.join(FAMILIES)}, or another vendor’s name; {NO_MODEL} if "
    "it uses none. Leave empty to derive the family from the run’s name."
)


@transaction.atomic
def declare(run: Run, *, family: str, actor: User) -> None:
    """Declare the family of the system's language model, so that Assay can warn about judges of the same family."""
    declared = declared_family(family)
    if declared == run.generator_family:
        return
    before, run.generator_family = run.generator_family, declared
    run.save(update_fields=["generator_family"])
    sentence = f"{actor} declared the model family of run {run}: {declared or 'unknown'}"
    names = {"before": before, "after": declared}
    audit.record("run_families.declare", sentence, actor=actor, collection=run.collection, target=run, **names)


def systems(collection: Collection) -> list[System]:
    """Return the collection's runs in the format of `judgments.machines.judge_runs.kinship`."""
    rows = collection.runs.order_by("name").values_list("name", "generator_family", "description")
    return [System(*row) for row in rows]


def family_field() -> forms.CharField:
    """Return the form field of the model family."""
    label = "Language model family (optional)"
    return forms.CharField(label=label, required=False, max_length=LONGEST, help_text=HELP)


def questions(upload: Upload) -> dict[str, forms.Field]:
    """Return the form fields that a run upload needs before it is stored."""
    return {"generator_family": family_field()}
