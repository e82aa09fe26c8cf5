"""Creation of click label sources, from a log or from another source."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from django.db import transaction

from assay.clicks.grade_cuts import checked_cuts, grades_of
from assay.core.errors import Conflict, NotValid
from judgments.models import Collection, ImportedLabel, LabelSource, User, audit
from judgments.models.fields import checked_name
from pooling.models import ClickCount

BATCH = 1_000
Labelled = tuple[ImportedLabel, ClickCount]


def make_source(
    collection: Collection, *, name: str, identity: dict[str, Any], report: dict[str, Any], actor: User
) -> LabelSource:
    """Return a new source; its hash covers the log and the rules, so that one log can be read with several rules."""
    name = name[:200]
    if not name:
        raise NotValid("Enter a name for the label source.", {"name": "Enter a name."})
    checked_name(name)
    if collection.label_sources.filter(name=name).exists():
        raise Conflict(f"Another label source is already called {name}. Choose another name.")
    sha256 = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
    earlier = collection.label_sources.filter(sha256=sha256).first()
    if earlier is not None:
        raise Conflict(f"This log is already stored with the same rules, as the label source {earlier}.")
    return LabelSource.objects.create(
        collection=collection, name=name, kind=LabelSource.Kind.CLICKS, sha256=sha256, report=report, created_by=actor
    )


def store_labels(rows: Iterator[Labelled]) -> int:
    """Store labels and counts in batches; return their number."""
    number = 0
    while some := list(islice(rows, BATCH)):
        ImportedLabel.objects.bulk_create([made for made, _ in some])
        ClickCount.objects.bulk_create([count for _, count in some])
        number += len(some)
    return number


@transaction.atomic
def make_grades(source: LabelSource, *, actor: User, name: str, cuts: Sequence[float]) -> LabelSource:
    """Create a source of grades from a source of labels; each threshold that a label reaches adds one grade."""
    if source.kind != LabelSource.Kind.CLICKS or source.report["rules"]["cuts"]:
        raise Conflict(f"{source} already has grades. Use the source of the original labels.")
    cuts = checked_cuts(cuts)
    if not cuts:
        raise NotValid("No threshold was entered.", {"cuts": "Enter at least one threshold, such as 1."})
    rules = {**source.report["rules"], "cuts": list(cuts)}
    identity = {"file": source.report["file_sha256"], "rules": rules}
    report = {**source.report, "rules": rules, "made_from": source.name}
    made = make_source(source.collection, name=name.strip(), identity=identity, report=report, actor=actor)
    store_labels(_graded(source, made, cuts))
    sentence = f"{actor} created the grades {made} from the click labels {source}"
    audit.record("click_sources.make_grades", sentence, actor=actor, collection=source.collection, target=made)
    return made


def _graded(source: LabelSource, made: LabelSource, cuts: Sequence[float]) -> Iterator[Labelled]:
    counts = ClickCount.objects.filter(label__source=source).select_related("label").order_by("pk")
    for count in counts.iterator(chunk_size=BATCH):
        grade = int(grades_of(np.array([count.estimate]), cuts)[0])
        old = count.label
        row = ImportedLabel(source=made, query_id=old.query_id, document_id=old.document_id, value=float(grade))
        same = ("impressions", "clicks", "expected", "estimate", "low", "high")
        yield row, ClickCount(label=row, **{name: getattr(count, name) for name in same})
