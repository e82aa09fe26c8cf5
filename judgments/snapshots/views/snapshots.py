"""Snapshot pages: the list, one snapshot with its label counts, and the export."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from judgments.labels import grade_visibility
from judgments.models import Snapshot
from judgments.snapshots import snapshots
from judgments.snapshots.bundle import FORMAT_OF
from judgments.web import access
from judgments.web.downloads import attachment
from judgments.web.lists import Column, Listing, answer
from judgments.web.pages import get_page

SHAPES = {"passed": "done", "undecided": "warn", "failed": "fail", "undefined": "todo"}
WORDS = {word: f"gate {word}" for word in SHAPES} | {"undefined": "gate not decided"}

SNAPSHOTS = Listing(
    name="snapshots",
    noun=("snapshot", "snapshots"),
    columns=(
        Column("name", "Snapshot", order="name", head=True, url=lambda row: reverse("snapshot", args=[row.uuid])),
        Column("labels", "Labels", numeric=True, value=lambda row: row.summary["labels"]),
        Column("queries", "Queries", numeric=True, value=lambda row: row.summary["queries"]),
        Column("rule", "Label rule", order="rule"),
        Column("conflicts", "Conflicts", numeric=True, value=lambda row: row.summary["conflicts"]),
        Column("adjudicated", "Resolved", numeric=True, value=lambda row: row.summary["adjudicated"]),
        Column("created_by", "Frozen by", order="created_by__username", value=lambda row: str(row.created_by or "")),
        Column("created_at", "Created", order="created_at", style="nowrap"),
        Column("content_sha256", "SHA-256", show=lambda row: f"{row.content_sha256[:12]}…", style="id"),
    ),
    search=("name", "content_sha256"),
    order="-created_at",
)


@get_page
def snapshot_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.snapshots.select_related("created_by").defer("manifest")
    context = {"collection": collection, "step": "snapshot", "rounds": collection.rounds.exists()}
    shown = grade_visibility.may_read_hashes(request.user, collection)
    listing = SNAPSHOTS if shown else SNAPSHOTS.without("content_sha256")
    return answer(request, listing, rows, "judgments/snapshots/snapshots.html", context)


def bars(by_grade: dict[int, int], labels: dict[int, str]) -> list[dict[str, Any]]:
    """Return one bar per grade, also for grades off the scale; the longest bar is 100 wide."""
    most = max(by_grade.values(), default=0)
    rows = []
    for value in sorted({*labels, *by_grade}):
        number = by_grade.get(value, 0)
        width = round(100 * number / most, 1) if most else 0.0
        rows.append({"grade": value, "label": labels.get(value, ""), "n": number, "width": width})
    return rows


@get_page
def snapshot(request: HttpRequest, uuid: str) -> HttpResponse:
    row = access.snapshot_for(request.user, uuid)
    manifest = row.manifest
    scale = dict(zip(manifest["scale"]["grades"], manifest["scale"]["labels"], strict=False))
    context = {
        "collection": row.collection,
        "snapshot": row,
        "manifest": manifest,
        "bars": bars({int(value): number for value, number in row.summary["by_grade"].items()}, scale),
        "withheld": bool(snapshots.withheld_queries(request.user, row)),
        "hashes": grade_visibility.may_read_hashes(request.user, row.collection),
        "top": max(scale, default=3),
        "files": [{**entry, "format": FORMAT_OF[entry["path"]]} for entry in manifest["files"]],
        "rounds": [_round(one) for one in manifest["rounds"]],
        "merge": manifest.get("merge", {}),
        "provenance": manifest["provenance"],
        "before": _before(row),
        "step": "snapshot",
    }
    return render(request, "judgments/snapshots/snapshot.html", context)


def _before(row: Snapshot) -> Snapshot | None:
    """Return the previous snapshot; for the first snapshot, the second one."""
    others = row.collection.snapshots.exclude(pk=row.pk).defer("manifest")
    return others.filter(created_at__lte=row.created_at).first() or others.last()


def _round(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a round as the manifest describes it; the oldest manifests have no gate."""
    agreement, gate = entry["agreement"], entry.get("gate")
    shape = {"shape": SHAPES[gate["state"]], "words": WORDS[gate["state"]]} if gate else {}
    return {
        "name": entry["name"],
        "alpha": agreement["alpha"]["ordinal"],
        "overlap": agreement["overlap"],
        "gate": gate and {**gate, **shape},
    }


@get_page
def export(request: HttpRequest, uuid: str, format: str) -> HttpResponse:
    row = access.snapshot_for(request.user, uuid)
    return attachment(*snapshots.download(row, format, reader=request.user))
