"""Manifest of a snapshot: its identity, provenance, counts and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from assay.core.counted_nouns import amount
from judgments.agreement import agreement_summary
from judgments.agreement.freeze_gate import GateResult
from judgments.labels import round_labels
from judgments.models import Round
from judgments.snapshots import bundle, merging, stale_labels
from judgments.snapshots.final_labels import Consolidation, LabelSet

OPTIONS = {"csv_escape": "apostrophe", "encode_ids": False, "omit_unrated": True, "pseudonyms": True}


def identity(name: str, content: dict[str, Any], files: dict[str, tuple[int, bytes]]) -> dict[str, Any]:
    """Return the part of the manifest that identifies the snapshot: content hash, files, name and time."""
    return {
        "content_sha256": bundle.content_sha256(content),
        "files": bundle.entries(files),
        "list": {"name": name, "frozen_at": timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ")},
        "provenance": content["provenance"],
    }


def about(
    rounds: list[Round], labels: LabelSet, consolidation: Consolidation, held: Sequence[GateResult]
) -> dict[str, Any]:
    """Return the part of the manifest about the origin of the labels: rule, rounds, merge and warnings."""
    agreement = {one.pk: agreement_summary.agreement(one) for one in rounds}
    gate = {one.round.pk: one.as_json() for one in held}
    stale = stale_labels.count(rounds)
    merged = labels.merged
    return {
        "assay_manifest": 1,
        "consolidation": {
            **consolidation.as_json(),
            "unrateable": consolidation.unrateable,
            "tie": "lower",
            **({"label_sources": list(consolidation.named)} if consolidation.named else {}),
        },
        "counts": {**_counts(rounds, labels), "stale": stale},
        "options": OPTIONS,
        "scale": bundle.scale_of(rounds),
        "rounds": [
            {
                "name": one.name,
                "guidelines_version": one.guidelines.number,
                "agreement": agreement[one.pk],
                **({"gate": gate[one.pk]} if one.pk in gate else {}),
            }
            for one in rounds
        ],
        **({"merge": _merge(merged)} if len(rounds) > 1 else {}),
        "warnings": _warnings(labels, consolidation, stale, held),
    }


def summary(manifest: dict[str, Any], labels: LabelSet) -> dict[str, Any]:
    """Return the numbers that lists of snapshots show."""
    return {
        "labels": len(labels.labels),
        "queries": manifest["counts"]["queries"],
        "by_grade": {str(grade): number for grade, number in labels.by_grade.items()},
        "conflicts": labels.conflicts,
        "adjudicated": labels.adjudicated,
    }


def _counts(rounds: list[Round], labels: LabelSet) -> dict[str, int]:
    return {
        "labels": len(labels.labels),
        "queries": len({label.query_id for label in labels.labels}),
        "ratings": labels.ratings,
        "raters": len({rater for round_ in rounds for rater in round_labels.pseudonyms(round_)}),
        "unrated_omitted": labels.without_rating - labels.zeroed,
        "unrateable": labels.unrateable,
        "unrateable_as_zero": labels.zeroed,
        "conflicts": labels.conflicts,
        "adjudicated": labels.adjudicated,
        "carried": len(labels.carried),
        **({"by_machine": labels.by_machine} if labels.by_machine else {}),
        "left_open": labels.left_open,
    }


def _merge(merged: merging.Merged) -> dict[str, Any]:
    return {
        "rated_again": merged.rated_again,
        "changed": len(merged.changes),
        "bridges": [bridge.as_json() for bridge in merged.bridges],
    }


def _warnings(labels: LabelSet, consolidation: Consolidation, stale: int, held: Sequence[GateResult]) -> list[str]:
    return [
        *_label_warnings(labels),
        *_merge_warnings(labels, consolidation),
        *_document_warnings(stale),
        *(one.warning for one in held if one.warning),
    ]


def doubts(labels: LabelSet, consolidation: Consolidation, stale: int) -> list[str]:
    """Return the warnings to review before freezing, as sentences without a period; gates are not included."""
    return [*_label_warnings(labels), *_merge_warnings(labels, consolidation), *_document_warnings(stale)]


def _label_warnings(labels: LabelSet) -> list[str]:
    warnings = []
    if labels.carried:
        many = amount(len(labels.carried), "label")
        warnings.append(f"{many} carried from another pair, because these pairs were not judged themselves")
    if labels.by_machine:
        many = amount(labels.by_machine, "label")
        warnings.append(
            f"{many} given by a machine and not by a person, marked with 1 in the second column of the qrels"
        )
    if labels.unresolved:
        warnings.append(f"{amount(labels.unresolved, 'conflict')} unresolved and labeled by the label rule")
    if labels.left_open:
        warnings.append(f"{amount(labels.left_open, 'pair')} with grades for which the label rule gives no label")
    left_out = labels.without_rating - labels.zeroed - labels.by_machine
    if left_out > 0:
        warnings.append(f"{amount(left_out, 'pair')} without a grade, left out of the labels")
    if labels.zeroed:
        warnings.append(f"{amount(labels.zeroed, 'unrateable pair')} labeled with the lowest grade")
    if labels.few_for_errors is not None:
        each = f"{labels.few_for_errors:.1f}"
        warnings.append(f"Dawid-Skene estimates rater errors and needs about five grades per pair; there are {each}")
    return warnings


def _merge_warnings(labels: LabelSet, consolidation: Consolidation) -> list[str]:
    warnings = []
    if labels.merged.changes:
        many = amount(len(labels.merged.changes), "pair")
        warnings.append(f"{many} with a different label in a newer round, which takes precedence")
    if consolidation.merge == merging.NEWEST:
        warnings += [f"guidelines differ: {merging.in_words(bridge)}" for bridge in labels.merged.unbridged]
    return warnings


def _document_warnings(stale: int) -> list[str]:
    return [f"{amount(stale, 'pair')} whose document changed after the judgment"] if stale else []
