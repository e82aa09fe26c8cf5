"""Manifest of a snapshot: its identity, how it was made, its counts and its warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from judgments import bundle, merging, reliability, stale_labels
from judgments.core.amounts import amount
from judgments.gates import Held
from judgments.labels import Consolidation, Settled
from judgments.models import Round

OPTIONS = {"csv_escape": "apostrophe", "encode_ids": False, "omit_unrated": True, "pseudonyms": True}


def identity(name: str, content: dict[str, Any], files: dict[str, tuple[int, bytes]]) -> dict[str, Any]:
    """What it is: its content, its files, its name and the time."""
    return {
        "content_sha256": bundle.content_sha256(content),
        "files": bundle.entries(files),
        "list": {"name": name, "frozen_at": timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ")},
        "provenance": content["provenance"],
    }


def about(rounds: list[Round], settled: Settled, how: Consolidation, held: Sequence[Held]) -> dict[str, Any]:
    """How it came about: the label rule, the judging, what was put together, and what casts doubt on it."""
    agreement = {one.pk: reliability.agreement(one) for one in rounds}
    gate = {one.round.pk: one.as_json() for one in held}
    stale = stale_labels.count(rounds)
    merged = settled.merged
    return {
        "assay_manifest": 1,
        "consolidation": {
            **how.as_json(),
            "unrateable": how.unrateable,
            "tie": "lower",
            **({"label_sources": list(how.named)} if how.named else {}),
        },
        "counts": {**_counts(rounds, settled), "stale": stale},
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
        "warnings": _warnings(settled, how, stale, held),
    }


def summary(manifest: dict[str, Any], settled: Settled) -> dict[str, Any]:
    """What lists show."""
    return {
        "labels": len(settled.labels),
        "queries": manifest["counts"]["queries"],
        "by_grade": {str(grade): number for grade, number in settled.by_grade.items()},
        "conflicts": settled.conflicts,
        "adjudicated": settled.adjudicated,
    }


def _counts(rounds: list[Round], settled: Settled) -> dict[str, int]:
    return {
        "labels": len(settled.labels),
        "queries": len({label.query_id for label in settled.labels}),
        "ratings": settled.ratings,
        "raters": len({rater for round_ in rounds for rater in reliability.pseudonyms(round_)}),
        "unrated_omitted": settled.without_rating - settled.zeroed,
        "unrateable": settled.unrateable,
        "unrateable_as_zero": settled.zeroed,
        "conflicts": settled.conflicts,
        "adjudicated": settled.adjudicated,
        "carried": len(settled.carried),
        **({"by_machine": settled.by_machine} if settled.by_machine else {}),
        "left_open": settled.left_open,
    }


def _merge(merged: merging.Merged) -> dict[str, Any]:
    return {
        "rated_again": merged.rated_again,
        "changed": len(merged.changes),
        "bridges": [bridge.as_json() for bridge in merged.bridges],
    }


def _warnings(settled: Settled, how: Consolidation, stale: int, held: Sequence[Held]) -> list[str]:
    return [
        *_of_labels(settled),
        *_of_merging(settled, how),
        *_of_documents(stale),
        *(one.warning for one in held if one.warning),
    ]


def doubts(settled: Settled, how: Consolidation, stale: int) -> list[str]:
    """What a careful lead would look at before freezing, in sentences without their full stop; gates aside."""
    return [*_of_labels(settled), *_of_merging(settled, how), *_of_documents(stale)]


def _of_labels(settled: Settled) -> list[str]:
    found = []
    if settled.carried:
        many = amount(len(settled.carried), "label")
        found.append(f"{many} carried from another pair; nobody judged those pairs themselves")
    if settled.by_machine:
        many = amount(settled.by_machine, "label")
        found.append(f"{many} given by a machine, marked with 1 in the qrels’ second column; no person gave those")
    if settled.unsettled:
        found.append(f"{amount(settled.unsettled, 'conflict')} decided by the rule, not by a person")
    if settled.left_open:
        found.append(f"{amount(settled.left_open, 'pair')} with grades of which the rule makes no label")
    left_out = settled.without_rating - settled.zeroed - settled.by_machine
    if left_out > 0:
        found.append(f"{amount(left_out, 'pair')} without a grade, left out of the labels")
    if settled.zeroed:
        found.append(f"{amount(settled.zeroed, 'pair')} that nobody could judge, labelled with the lowest grade")
    if settled.few_for_errors is not None:
        each = f"{settled.few_for_errors:.1f}"
        found.append(
            f"Dawid-Skene learns the errors of raters, and {each} grades a pair are fewer than the five it needs"
        )
    return found


def _of_merging(settled: Settled, how: Consolidation) -> list[str]:
    found = []
    if settled.merged.changes:
        many = amount(len(settled.merged.changes), "pair")
        found.append(f"{many} labelled otherwise by a newer round, whose label counts")
    if how.merge == merging.NEWEST:
        found += [f"guidelines differ: {merging.in_words(bridge)}" for bridge in settled.merged.unbridged]
    return found


def _of_documents(stale: int) -> list[str]:
    return [f"{amount(stale, 'pair')} whose document changed after it was judged"] if stale else []
