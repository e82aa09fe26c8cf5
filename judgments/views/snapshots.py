"""Which labels were frozen, what would be frozen now, and how do they leave the house?"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from judgments import access, reliability, snapshots
from judgments.agreement.reading import THRESHOLD, reason_in_words, verdict
from judgments.bundle import FORMAT_OF
from judgments.core.amounts import amount
from judgments.core.errors import AssayError, Conflict
from judgments.forms import AssayForm
from judgments.labels import Settled
from judgments.models import Collection, Round, Snapshot
from judgments.views.agreement import SHAPES, WORDS
from judgments.views.downloads import attachment
from judgments.views.lists import Column, Listing, answer

MANIFEST = "manifest"
MERGES = {
    "newest": "the newest round wins for each pair",
    "same-guidelines": "the same, and only rounds of one guidelines version",
}
SOURCES = {"human": "what people judged here", "imported": "imported labels, where nobody here judged the pair"}

SNAPSHOTS = Listing(
    name="snapshots",
    noun=("snapshot", "snapshots"),
    columns=(
        Column("name", "Snapshot", order="name", head=True, url=lambda row: reverse("snapshot", args=[row.uuid])),
        Column("labels", "Labels", numeric=True, value=lambda row: row.summary["labels"]),
        Column("queries", "Queries", numeric=True, value=lambda row: row.summary["queries"]),
        Column("rule", "Label rule", order="rule"),
        Column("conflicts", "Conflicts", numeric=True, value=lambda row: row.summary["conflicts"]),
        Column("adjudicated", "Settled", numeric=True, value=lambda row: row.summary["adjudicated"]),
        Column("created_by", "Frozen by", order="created_by__username", value=lambda row: str(row.created_by or "")),
        Column("created_at", "When", order="created_at", style="nowrap"),
        Column("content_sha256", "SHA-256", show=lambda row: f"{row.content_sha256[:12]}…", style="id"),
    ),
    search=("name", "content_sha256"),
    order="-created_at",
)


@login_required
@require_safe
def snapshot_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.snapshots.select_related("created_by").defer("manifest")
    context = {"collection": collection, "step": "snapshot", "rounds": collection.rounds.exists()}
    return answer(request, SNAPSHOTS, rows, "judgments/snapshots.html", context)


class ChoiceForm(AssayForm):
    """Which labels, and by which rule. It stands in the address, so that it can be sent on."""

    rounds = forms.ModelMultipleChoiceField(
        Round.objects.none(), to_field_name="uuid", required=False, widget=forms.CheckboxSelectMultiple
    )
    rule = forms.ChoiceField(label="Label rule", widget=forms.RadioSelect)
    sources = forms.MultipleChoiceField(
        label="Labels come from", choices=list(SOURCES.items()), widget=forms.CheckboxSelectMultiple
    )
    named = forms.MultipleChoiceField(
        label="Which label sources",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all that were imported, no clicks. Clicks fill in where nothing else has a label.",
    )
    merge = forms.ChoiceField(label="A pair in several rounds", choices=list(MERGES.items()), widget=forms.RadioSelect)

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        from judgments.aggregation.rules import RULES

        super().__init__(*args, **kwargs)
        with_words = collection.rounds.select_related("guidelines", "scale").prefetch_related("scale__grades")
        self.fields["rounds"].queryset = with_words
        self.fields["rounds"].label_from_instance = _round_words
        self.fields["rule"].choices = [(name, f"{RULES[name].title}: {RULES[name].description}") for name in RULES]
        listed = list(collection.label_sources.order_by("name"))
        imported = bool(listed)
        self.fields["named"].choices = [(one.name, f"{one.name} ({one.get_kind_display()})") for one in listed]
        self.nothing = not imported and not collection.rounds.exists()
        if not imported:
            self.fields["sources"].choices = [("human", SOURCES["human"])]
            del self.fields["named"]


def _round_words(round_: Round) -> str:
    return f"{round_.name} ({round_.get_state_display()}, guidelines {round_.guidelines}, scale {round_.scale})"


class FreezeForm(AssayForm):
    """What the frozen thing is called, and why in spite of a warning."""

    name = forms.CharField(max_length=120, help_text="For example autumn-1. It cannot be changed: nothing of it can.")
    override_reason = forms.CharField(
        label="Why freeze in spite of that (optional)",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="It stands in the manifest, for whoever reads the numbers later.",
    )

    def tell(self, error: AssayError) -> None:
        if isinstance(error, Conflict):
            self.conflict = True
            self.add_error("name", str(error))
        else:
            super().tell(error)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    choice = ChoiceForm(collection, _chosen(request, collection))
    form = FreezeForm(request.POST if request.method == "POST" else None)
    found: dict[str, Any] = {}
    if choice.is_valid():
        with choice.telling():
            found = _preview(collection, choice.cleaned_data, request.user)
    if request.method == "POST" and found and form.is_valid():
        with form.telling():
            frozen = snapshots.freeze(collection, actor=request.user, **_what(choice), **form.cleaned_data)
            labels = amount(frozen.summary["labels"], "label")
            messages.success(request, f"Frozen: {labels}. Nothing can change them any more.")
            return redirect("snapshot", frozen.uuid)
    context = {"collection": collection, "choice": choice, "form": form, "step": "snapshot", **found}
    status = choice.status if request.method == "POST" and not found else form.status
    return render(request, "judgments/snapshot_new.html", context, status=status)


def _chosen(request: HttpRequest, collection: Collection) -> dict[str, Any]:
    """What was chosen in the address or in the form; at first the newest round and the usual rule."""
    given = request.POST if request.method == "POST" else request.GET
    if "rule" in given:
        several = {name: given.getlist(name) for name in ("rounds", "sources", "named")}
        return {**several, "rule": given.get("rule", ""), "merge": given.get("merge", "")}
    wanted = given.getlist("rounds") or [str(uuid) for uuid in collection.rounds.values_list("uuid", flat=True)[:1]]
    return {"rounds": wanted, "rule": "median", "sources": ["human" if wanted else "imported"], "merge": "newest"}


def _what(choice: ChoiceForm) -> dict[str, Any]:
    return {**choice.cleaned_data, "rounds": list(choice.cleaned_data["rounds"])}


def _preview(collection: Collection, what: dict[str, Any], reader: Any) -> dict[str, Any]:
    """What would be frozen, and what stands against it."""
    rounds = list(what["rounds"])
    settled = snapshots.preview(collection, **{**what, "rounds": rounds})
    grades = {one.value: one.label for round_ in rounds for one in round_.scale.grades.all()}
    agreements = [_agreement(round_) for round_ in rounds] if "human" in what["sources"] else []
    return {
        "settled": settled,
        "bars": bars(settled.by_grade, grades),
        "withheld": snapshots.withheld_by(collection, reader, lambda: _documents(settled)) is not None,
        "top": max(grades, default=3),
        "agreements": agreements,
        "doubts": _doubts(settled, agreements),
    }


def _documents(settled: Settled) -> dict[str, set[str]]:
    """The documents with a label, by query."""
    found: dict[str, set[str]] = {}
    for label in settled.labels:
        found.setdefault(label.query_id, set()).add(label.doc_id)
    return found


def _agreement(round_: Round) -> dict[str, Any]:
    report = reliability.agreement(round_)
    ordinal = report["alpha"]["ordinal"]
    found = verdict(ordinal["low"], ordinal["high"])
    shape, words = SHAPES[found], WORDS[found]
    if ordinal["value"] is not None and any(told["code"] == "not_enough_overlap" for told in report["warnings"]):
        shape, words = "doing" if found == "passed" else shape, f"{words}, on little overlap"
    reason = reason_in_words(ordinal["reason"])
    return {"round": round_, "alpha": ordinal, "verdict": found, "shape": shape, "words": words, "reason": reason}


def _doubts(settled: Settled, agreements: list[dict[str, Any]]) -> list[str]:
    """What a careful lead would look at before freezing, in sentences."""
    found = []
    if settled.unsettled:
        found.append(f"{amount(settled.unsettled, 'conflict')} decided by the rule only, not by a person")
    if settled.without_rating:
        found.append(f"{amount(settled.without_rating, 'pair')} without a grade, left out of the labels")
    words = {
        "failed": f"agreement is below the gate of {THRESHOLD:.2f}",
        "undecided": f"the gate of {THRESHOLD:.2f} lies inside the interval of the agreement",
        "undefined": "agreement is not defined",
    }
    return [*found, *(f"{row['round']}: {words[row['verdict']]}" for row in agreements if row["verdict"] != "passed")]


def bars(by_grade: dict[int, int], labels: dict[int, str]) -> list[dict[str, Any]]:
    """One bar a grade, as wide as its share of the largest on a line of 100; grades off the scale too."""
    most = max(by_grade.values(), default=0)
    found = []
    for value in sorted({*labels, *by_grade}):
        number = by_grade.get(value, 0)
        width = round(100 * number / most, 1) if most else 0.0
        found.append({"grade": value, "label": labels.get(value, ""), "n": number, "width": width})
    return found


@login_required
@require_safe
def snapshot(request: HttpRequest, uuid: str) -> HttpResponse:
    row = access.snapshot_for(request.user, uuid)
    manifest = row.manifest
    scale = dict(zip(manifest["scale"]["grades"], manifest["scale"]["labels"], strict=False))
    rounds = [
        {"name": one["name"], "alpha": one["agreement"]["alpha"]["ordinal"], "overlap": one["agreement"]["overlap"]}
        for one in manifest["rounds"]
    ]
    context = {
        "collection": row.collection,
        "snapshot": row,
        "manifest": manifest,
        "bars": bars({int(value): number for value, number in row.summary["by_grade"].items()}, scale),
        "withheld": snapshots.is_withheld(row, snapshots.still_to_give(row.collection, request.user)),
        "top": max(scale, default=3),
        "files": [{**entry, "format": FORMAT_OF[entry["path"]]} for entry in manifest["files"]],
        "rounds": rounds,
        "provenance": manifest["provenance"],
        "step": "snapshot",
    }
    return render(request, "judgments/snapshot.html", context)


@login_required
@require_safe
def export(request: HttpRequest, uuid: str, format: str) -> HttpResponse:
    row = access.snapshot_for(request.user, uuid)
    if format == MANIFEST:
        return attachment(*_manifest_file(row))
    snapshots.check_reader(row, request.user)
    return attachment(*snapshots.export(row, format))


def _manifest_file(row: Snapshot) -> tuple[str, bytes]:
    return f"{row.collection.slug}-{snapshots.MANIFEST}", snapshots.read_file(row, snapshots.MANIFEST)
