"""Pages of gates: the list of verdicts, and one verdict with its rules."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString

from assay.core.errors import NotValid
from assay.decisions.gate_rules import parse_rule
from assay.decisions.gate_verdicts import amount
from evaluation.gates import verdicts
from evaluation.models import GateVerdict
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import state
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import get_page

HIDDEN = "hidden while you rate"


def _state(verdict: GateVerdict, hidden: set[int]) -> SafeString:
    if verdict.snapshot_id in hidden:
        return state("todo", HIDDEN)
    return state("done", "passed") if verdict.passed else state("fail", "failed")


GATE = ("gate", "collection.slug", "uuid")


def _listing(hidden: set[int]) -> Listing:
    return Listing(
        name="gates",
        noun=("verdict", "verdicts"),
        columns=(
            Column("candidate", "Candidate", order="candidate", head=True, style="clip", url=GATE),
            Column(
                "passed",
                "Verdict",
                order="" if hidden else "passed",
                value=lambda row: None if row.snapshot_id in hidden else "passed" if row.passed else "failed",
                show=lambda row: _state(row, hidden),
            ),
            Column(
                "failed",
                "Failed rules",
                numeric=True,
                value=lambda row: None if row.snapshot_id in hidden else _failed(row),
            ),
            Column("baseline", "Baseline", order="baseline", style="clip"),
            Column("snapshot", "Snapshot", order="snapshot__name", style="clip", value=lambda row: row.snapshot.name),
            Column("label", "Change", order="label", style="clip"),
            Column("created_at", "Recorded", order="created_at", style="nowrap"),
        ),
        search=("candidate", "baseline", "label", "snapshot__name"),
        choices=()
        if hidden
        else (ChoiceFilter("passed", "Verdict", "passed", [("True", "passed"), ("False", "failed")]),),
        order="-created_at",
    )


def _failed(verdict: GateVerdict) -> int:
    return sum(not rule["passed"] for rule in verdict.rules)


@get_page
def gates(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.gate_verdicts.select_related("snapshot", "collection")
    context = {"collection": collection, "step": "scores", "any": rows.exists()}
    listing = _listing(verdicts.hidden_snapshots(request.user, collection))  # type: ignore[arg-type]
    return answer(request, listing, rows, "evaluation/gates/gates.html", context)


@get_page
def gate(request: HttpRequest, slug: str, uuid: uuid_module.UUID) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.gate_verdicts.select_related("snapshot", "collection")
    verdict = rows.filter(uuid=uuid).first()
    if verdict is None:
        raise Http404
    hidden = verdicts.hidden_snapshots(request.user, collection)  # type: ignore[arg-type]
    files = [("Candidate", verdict.candidate, verdict.candidate_sha256)]
    if verdict.baseline:
        files.append(("Baseline", verdict.baseline, verdict.baseline_sha256))
    stored = {run.sha256: run for run in collection.runs.filter(sha256__in=[sha256 for _, _, sha256 in files])}
    context = {
        "collection": collection,
        "step": "scores",
        "verdict": verdict,
        "files": [(*file, stored.get(file[-1])) for file in files],
        "hidden": verdict.snapshot_id in hidden,
        "state": _state(verdict, hidden),
        "rules": [{**rule, "shown": _shown(rule)} for rule in verdict.rules],
        "failed": _failed(verdict),
    }
    return render(request, "evaluation/gates/gate.html", context)


def _shown(rule: dict[str, Any]) -> str:
    """Return the value of a rule as `assay gate` prints it."""
    if rule["value"] is None:
        return "undefined"
    try:
        return amount(rule["value"], parse_rule(rule["rule"]))
    except NotValid:
        # A rule on a metric of RAG systems, or of another version.
        return f"{rule['value']:.4f}"
