"""Verdicts of gates: record what a pipeline computed, and decide who may read it."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.urls import reverse

from assay.core.errors import NotValid
from evaluation.models import GateVerdict
from judgments.events.events import emit
from judgments.models import Collection, CollectionEvent, Snapshot, User, audit
from judgments.models.snapshot import FILES
from judgments.snapshots import snapshots


def record(
    collection: Collection,
    *,
    actor: User,
    client_id: uuid_module.UUID,
    snapshot: Snapshot,
    qrels_sha256: str,
    passed: bool,
    rules: Sequence[Mapping[str, Any]],
    candidate: Mapping[str, str],
    baseline: Mapping[str, str] | None,
    warnings: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    label: str = "",
    link: str = "",
) -> tuple[GateVerdict, bool]:
    """Record a verdict, and return whether it is new; one with the same client id is recorded once."""
    snapshots.check_reader(snapshot, actor)
    if qrels_sha256 != snapshot.entry(FILES["trec-qrels"])["sha256"]:
        message = f"This verdict was computed with other labels than those of snapshot {snapshot}. Pull it again."
        raise NotValid(message, "qrels")
    if passed != all(rule["passed"] for rule in rules):
        raise NotValid("`passed` contradicts the rules: a gate passes if every rule passed.", "passed")
    base = baseline or {"name": "", "sha256": ""}
    with transaction.atomic():
        verdict, new = collection.gate_verdicts.get_or_create(
            client_id=client_id,
            defaults={
                "snapshot": snapshot,
                "passed": passed,
                "label": label,
                "link": link,
                "candidate": candidate["name"],
                "candidate_sha256": candidate["sha256"],
                "baseline": base["name"],
                "baseline_sha256": base["sha256"],
                "rules": list(rules),
                "warnings": list(warnings),
                "settings": dict(settings or {}),
                "created_by": actor,
            },
        )
        if not new:
            return verdict, False
        audit.record(
            "gates.record",
            f"{actor} recorded that {verdict.candidate} {'passed' if passed else 'failed'} a gate on {snapshot}",
            actor=actor,
            target=verdict,
            passed=passed,
        )
        if not passed:
            emit(
                "gate.failed",
                collection,
                text=f"{verdict.candidate} failed a gate on snapshot {snapshot}.",
                page=reverse("gate", args=[collection.slug, verdict.uuid]),
                data={
                    "gate": str(verdict.uuid),
                    "snapshot": str(snapshot.uuid),
                    "candidate": verdict.candidate,
                    "baseline": verdict.baseline or None,
                    "label": label,
                    "link": link,
                    "failed_rules": [rule["rule"] for rule in rules if not rule["passed"]],
                },
                actor=actor,
            )
    return verdict, True


def event_visible(user: User, event: CollectionEvent) -> bool:
    """Return whether the user may see which gate failed."""
    snapshot = event.collection.snapshots.select_related("collection").filter(uuid=event.data["snapshot"]).first()
    return snapshot is None or not snapshots.withheld_queries(user, snapshot)


def hidden_snapshots(reader: User, collection: Collection) -> set[int]:
    """Return the snapshots whose verdicts a reader may not see: the reader may still grade some of their pairs."""
    with_verdicts = collection.snapshots.filter(gate_verdicts__isnull=False).distinct().select_related("collection")
    return {snapshot.pk for snapshot in with_verdicts if snapshots.withheld_queries(reader, snapshot)}
