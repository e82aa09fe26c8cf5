"""RAG systems: import of their outputs, the baseline, and the match of outputs with sample sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.db import transaction
from django.db.models import Count

from assay.core.errors import Conflict, NotFound, NotValid
from assay.core.text_rules import storable
from assay.rag import outputs_jsonl
from assay.rag.reader import MISSING, align
from assay.rag.records import EvaluationSample, SystemOutputs
from evaluation.models import RagOutput, RagSample, RagSampleSet, RagSystem
from evaluation.rag import sample_sets, scorecards
from evaluation.rag.sample_sets import sample_set_for
from judgments.imports.kinds import Checked, ImportKind, stored_as
from judgments.models import Collection, Upload, User, audit
from judgments.models.fields import checked_name
from judgments.web import access

EXCERPT = 300
# This many ids are used to find the sample set of an uploaded file.
IDS_COMPARED = 500
MISSING_TITLES = {
    "error": "is an error; nothing is stored",
    "skip": "is left out of the metrics",
    "zero": "counts as 0",
}


def check(collection: Collection, rows: Sequence[SystemOutputs], upload: Upload) -> Checked:
    """Find the sample set that a file of outputs belongs to."""
    sets = collection.rag_sample_sets.active()
    if not sets.exists():
        raise NotValid("This collection has no RAG samples. Import the samples first, then the outputs of systems.")
    best = best_set(collection, [row.sample_id for row in rows])
    stages = sorted({stage for row in rows for stage in row.timings})
    figures = {
        "outputs": len(rows),
        "with a response": sum(row.response is not None for row in rows),
        "with retrieved documents": sum(bool(row.retrieved) for row in rows),
        "timed stages": ", ".join(stages[:5]),
        "sample set": best.name if best else "none contains these ids",
    }
    return Checked(rows, (), figures)


def best_set(collection: Collection, sample_ids: Sequence[str]) -> RagSampleSet | None:
    """Return the active sample set that has most of these ids; the newest one of several."""
    wanted = list(sample_ids[:IDS_COMPARED])
    match = (
        RagSample.objects.filter(sample_set__in=collection.rag_sample_sets.active().values("pk"), sample_id__in=wanted)
        .order_by()
        .values("sample_set")
        .annotate(shared=Count("pk"))
        .order_by("-shared", "-sample_set")
        .first()
    )
    return None if match is None else RagSampleSet.objects.get(pk=match["sample_set"])


def questions(upload: Upload) -> dict[str, Any]:
    """Ask for the sample set and for the treatment of samples without an output."""
    sets = list(upload.collection.rag_sample_sets.active())
    guess = upload.preview.get("figures", {}).get("sample set")
    initial = next((str(one.uuid) for one in sets if one.name == guess), None)
    return {
        "samples": forms.ChoiceField(
            label="Sample set",
            choices=[(str(one.uuid), f"{one.name} ({one.rows:,} samples)") for one in sets],
            initial=initial,
            help_text="Outputs and samples are matched by `sample_id`.",
        ),
        "missing": forms.ChoiceField(
            label="A sample without an output",
            choices=list(MISSING_TITLES.items()),
            help_text="If this is an error, an output without a sample is also an error. Otherwise it is left out.",
        ),
    }


def prepare(checked: Checked, upload: Upload, *, progress: object = None) -> Checked:
    """Write the outputs to the file that stays in storage."""
    return sample_sets.write_upload(checked, upload, outputs_jsonl.to_dict, outputs_jsonl.NAME)


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Add an uploaded file as a system, and queue its scorecard."""
    stored = sample_sets.of_upload(checked)
    made = add(
        _chosen_set(collection, checked, str(options.get("samples") or ""), actor),
        stored,
        description=str(options.get("description") or "")[:300],
        missing=str(options.get("missing") or "error"),
        actor=actor,
        **sample_sets.upload_fields(upload, options, "system"),
    )
    return {"rows": made.rows, "id": str(made.uuid), "name": made.name, "samples": str(made.sample_set.uuid)}


def _chosen_set(collection: Collection, checked: Checked, wanted: str, actor: User) -> RagSampleSet:
    if not wanted:
        sample_set = best_set(collection, [placed.record.sample_id for placed in checked.rows])
        if sample_set is None:
            raise NotValid(
                "No sample set of this collection has the ids of these outputs.",
                {"samples": "Import the samples first, or give the outputs the ids of the samples."},
            )
        return sample_set
    try:
        return sample_set_for(actor, collection, wanted)
    except NotFound:
        known = ", ".join(str(one.uuid) for one in collection.rag_sample_sets.active()[:5])
        raise NotValid(f"Unknown sample set {wanted!r}.", {"samples": f"Known sample sets: {known}."}) from None


@transaction.atomic
def add(
    sample_set: RagSampleSet,
    stored: sample_sets.Stored[SystemOutputs],
    *,
    name: str,
    missing: str,
    actor: Any,
    **more: Any,
) -> RagSystem:
    """Add a file of outputs as a system of a sample set, and queue the scorecards of the set."""
    if missing not in MISSING:
        raise NotValid(
            f"Unknown value {missing!r} of `missing`. Use one of {', '.join(MISSING)}.", {"missing": "Unknown choice."}
        )
    name = _free_name(sample_set, name)
    same = sample_set.systems.filter(stored_sha256=stored.sha256).first()
    if same is not None:
        raise Conflict(f"The system {same} already has exactly these outputs. Nothing was stored.")
    samples = list(sample_set.samples.all())
    outputs = [placed.record for placed in stored.records]
    try:
        aligned = align([EvaluationSample(one.sample_id, one.query) for one in samples], outputs, missing, name)  # type: ignore[arg-type]
    except NotValid as error:
        raise NotValid(f"{error}.", "missing") from error
    made = RagSystem.objects.create(
        collection=sample_set.collection,
        sample_set=sample_set,
        name=name,
        missing=missing,
        path=stored.path,
        stored_sha256=stored.sha256,
        rows=len(outputs),
        baseline=not sample_set.systems.active().exists(),
        figures={
            "with a response": sum(one.response is not None for one in outputs),
            "samples without an output": len(aligned.missing),
            "outputs without a sample": len(aligned.extra),
        },
        created_by=actor,
        **more,
    )
    of = {one.sample_id: one for one in samples}
    RagOutput.objects.bulk_create(
        (
            RagOutput(
                system=made,
                sample=of[placed.record.sample_id],
                excerpt=storable(placed.record.response.text if placed.record.response else "")[:EXCERPT],
                start=placed.start,
                length=placed.length,
            )
            for placed in stored.records
            if placed.record.sample_id in of
        ),
        batch_size=1000,
    )
    scorecards.queue(sample_set, actor=actor)
    return made


def _free_name(sample_set: RagSampleSet, wanted: str) -> str:
    name = checked_name(wanted.strip()[:120] or "system")
    if sample_set.systems.filter(name=name).exists():
        raise Conflict(
            f"{sample_set} already has a system called {name}. Choose another name, for example {name[:110]}-2."
        )
    return name


@transaction.atomic
def set_baseline(system: RagSystem, *, actor: User) -> None:
    """Make a system the baseline of its set."""
    RagSampleSet.objects.select_for_update().get(pk=system.sample_set_id)
    before = system.sample_set.systems.filter(baseline=True).first()
    if before == system:
        return
    system.sample_set.systems.filter(baseline=True).update(baseline=False)
    system.baseline = True
    system.save(update_fields=["baseline"])
    names = {"before": str(before) if before else None, "after": str(system)}
    sentence = f"{actor} made {system} the baseline of {system.sample_set}"
    audit.record("rag.set_baseline", sentence, actor=actor, target=system, **names)


def system_for(user: Any, collection: Collection, uuid: Any) -> RagSystem:
    """Return a system of a collection that the user may access."""
    rows = RagSystem.objects.select_related("collection", "sample_set__snapshot").filter(collection=collection)
    system = access.reach(rows, user, access.STAFF, uuid=uuid)
    sample_set_for(user, collection, system.sample_set.uuid)
    return system


OUTPUTS = ImportKind(
    name="outputs",
    existing=lambda collection, sha256: stored_as(collection.rag_systems, sha256),
    title="RAG outputs",
    format_kind="outputs",
    default_format=outputs_jsonl.NAME,
    check=check,
    store=store,
    prepare=prepare,
    roles=access.STAFF,
    columns=("sample_id", "response"),
    asks=("name", "description", "samples", "missing"),
    questions=questions,
    quiet=frozenset({"timed stages", "with retrieved documents", "with a response"}),
)
