"""Manifest of a snapshot: its identity, provenance, counts and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.utils import timezone

from assay.core.counted_nouns import amount
from judgments.agreement import agreement_summary
from judgments.agreement.freeze_gate import GateResult
from judgments.labels import round_labels
from judgments.models import Round
from judgments.snapshots import baselines, bundle, merging
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
    stale = baselines.count_stale(rounds)
    merge = {
        "rated_again": labels.merged.rated_again,
        "changed": len(labels.merged.changes),
        "bridges": [bridge.as_json() for bridge in labels.merged.bridges],
    }
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
        **({"merge": merge} if len(rounds) > 1 else {}),
        "warnings": [*doubts(labels, consolidation, stale), *(one.warning for one in held if one.warning)],
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


def doubts(labels: LabelSet, consolidation: Consolidation, stale: int) -> list[str]:
    """Return the warnings to review before freezing, as sentences without a period; gates are not included."""
    left_out = max(0, labels.without_rating - labels.zeroed - labels.by_machine)
    few = "Dawid-Skene estimates rater errors and needs about five grades per pair; there are"
    counted = [
        (len(labels.carried), "label", "carried from another pair, because these pairs were not judged themselves"),
        (
            labels.by_machine,
            "label",
            "given by a machine and not by a person, marked with 1 in the second column of the qrels",
        ),
        (labels.unresolved, "conflict", "unresolved and labeled by the label rule"),
        (labels.left_open, "pair", "with grades for which the label rule gives no label"),
        (left_out, "pair", "without a grade, left out of the labels"),
        (labels.zeroed, "unrateable pair", "labeled with the lowest grade"),
    ]
    merged = [(len(labels.merged.changes), "pair", "with a different label in a newer round, which takes precedence")]
    unbridged = labels.merged.unbridged if consolidation.merge == merging.NEWEST else []
    return [
        *_counted(counted),
        *([] if labels.few_for_errors is None else [f"{few} {labels.few_for_errors:.1f}"]),
        *_counted(merged),
        *(f"guidelines differ: {merging.in_words(bridge)}" for bridge in unbridged),
        *_counted([(stale, "pair", "whose document changed after the judgment")]),
    ]


def _counted(rows: Iterable[tuple[int, str, str]]) -> Iterator[str]:
    return (f"{amount(number, noun)} {words}" for number, noun, words in rows if number)
