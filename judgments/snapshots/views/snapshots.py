"""Pages of snapshots: the list, one snapshot, and freezing."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from assay.aggregation import RULES
from assay.core.text_rules import amount
from assay.formats import FORMATS
from judgments.agreement import conflicts
from judgments.labels import grade_visibility
from judgments.machines.calibration import calibration
from judgments.models import Collection, Round, Snapshot
from judgments.snapshots import final_labels, merging, snapshots
from judgments.snapshots.final_labels import Consolidation
from judgments.snapshots.freeze_preview import FreezePreview, look
from judgments.snapshots.views.changed_pairs import address
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.downloads import attachment
from judgments.web.figures import grade
from judgments.web.forms import AssayForm
from judgments.web.lists import Listing, answer
from judgments.web.pages import finish, form_page, get_page

MERGES = {
    merging.NEWEST: "newest round for each pair",
    merging.SAME: "newest round for each pair, if all rounds have the same guidelines version",
    merging.BRIDGED: "newest round for each pair; older guidelines only if 20% of their pairs were rated again",
}
SOURCES = {
    "human": "human judgments in this collection",
    "imported": "imported labels, for pairs without a human judgment",
    "machine": "a machine judge, for pairs without a human label; marked in the files",
    "accepted": "auto-accepted lowest grades of a judge; marked in the files",
}
UNRATEABLE = {
    final_labels.EXCLUDED: "no label",
    final_labels.ZERO: "the lowest grade",
}


class ChoiceForm(AssayForm):
    """Form for the labels and the label rule. The choice is part of the URL, so that it can be shared."""

    rounds = forms.ModelMultipleChoiceField(
        Round.objects.none(), to_field_name="uuid", required=False, widget=forms.CheckboxSelectMultiple
    )
    rule = forms.ChoiceField(label="Label rule", widget=forms.RadioSelect)
    unrateable = forms.ChoiceField(
        label="Unrateable pairs",
        choices=list(UNRATEABLE.items()),
        required=False,
        widget=forms.RadioSelect,
    )
    sources = forms.MultipleChoiceField(
        label="Labels to use", choices=list(SOURCES.items()), widget=forms.CheckboxSelectMultiple
    )
    named = forms.MultipleChoiceField(
        label="Label sources",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="If you select none, all imported labels are used, but none from clicks. Labels from clicks apply "
        "only to pairs without another label.",
    )
    judge = forms.ChoiceField(label="Machine judge", required=False)
    merge = forms.ChoiceField(label="Pairs in several rounds", choices=list(MERGES.items()), widget=forms.RadioSelect)

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        with_words = collection.rounds.active().select_related("guidelines", "scale").prefetch_related("scale__grades")
        self.fields["rounds"].queryset = with_words
        self.fields["rounds"].label_from_instance = _round_words
        self.fields["rule"].choices = [(name, f"{RULES[name].title}: {RULES[name].description}") for name in RULES]
        listed = list(collection.label_sources.order_by("name"))
        imported = bool(listed)
        self.fields["named"].choices = [(one.name, f"{one.name} ({one.get_kind_display()})") for one in listed]
        self.nothing = not imported and not collection.rounds.exists()
        rows = collection.judges.defer("inputs").order_by("name")
        judges = [judge.name for judge in rows if calibration.has_grades(judge)]
        self.fields["judge"].choices = [("", "none"), *((name, name) for name in judges)]
        there = {"human", *(["imported"] if imported else []), *(["machine", "accepted"] if judges else [])}
        self.fields["sources"].choices = [one for one in SOURCES.items() if one[0] in there]
        if not imported:
            del self.fields["named"]
        if not judges:
            del self.fields["judge"]

    def clean_unrateable(self) -> str:
        return self.cleaned_data["unrateable"] or final_labels.EXCLUDED


def _round_words(round_: Round) -> str:
    return f"{round_.name} ({round_.get_state_display()}, guidelines {round_.guidelines}, scale {round_.scale})"


class FreezeForm(AssayForm):
    name = forms.CharField(
        max_length=120, help_text="For example, autumn-1. Neither the snapshot nor its name can be changed later."
    )
    override_reason = forms.CharField(
        label="Reason for freezing anyway (optional)",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="The reason is stored in the manifest, which readers of the labels can see.",
    )

    def ask_why(self) -> None:
        """Require a reason, because a round fails its gate."""
        self.fields["override_reason"].label = "Reason for freezing although a round fails its gate"
        self.fields["override_reason"].widget.attrs["required"] = True


@form_page.of_collection(access.LEADS)
def new(request: HttpRequest, collection: Collection) -> HttpResponse:
    choice = ChoiceForm(collection, _chosen(request, collection))
    form = FreezeForm(request.POST if request.method == "POST" else None)
    preview: dict[str, Any] = {}
    if choice.is_valid():
        if subject := next(iter(choice.cleaned_data["rounds"]), None):
            choice.worded_for(subject, choices=["rule", "unrateable"])
        with choice.telling():
            preview = _preview(collection, _what(choice), request.user)
            if preview["failed"]:
                form.ask_why()
    if request.method == "POST" and preview and form.is_valid():
        with form.telling():
            frozen = snapshots.freeze(collection, actor=request.user, **_what(choice), **form.cleaned_data)
            many = amount(frozen.summary["labels"], "label")
            return finish(request, f"Froze {many}. They cannot change.", "snapshot", frozen.uuid)
    context = {"collection": collection, "choice": choice, "form": form, "step": "snapshot", **preview}
    status = choice.status if request.method == "POST" and not preview else form.status
    return render(request, "judgments/snapshots/snapshot_new.html", context, status=status)


def _chosen(request: HttpRequest, collection: Collection) -> dict[str, Any]:
    """Return the choice from the URL or the form; initially the newest round and the default rule."""
    given = request.POST if request.method == "POST" else request.GET
    if "rule" in given:
        several = {name: given.getlist(name) for name in ("rounds", "sources", "named")}
        return {**several, **{name: given.get(name, "") for name in ("rule", "merge", "unrateable", "judge")}}
    wanted = given.getlist("rounds") or [str(uuid) for uuid in collection.rounds.values_list("uuid", flat=True)[:1]]
    usual = {"rule": "median", "merge": merging.NEWEST, "unrateable": final_labels.EXCLUDED}
    return {"rounds": wanted, "sources": ["human" if wanted else "imported"], **usual}


def _what(choice: ChoiceForm) -> dict[str, Any]:
    return {**choice.cleaned_data, "rounds": list(choice.cleaned_data["rounds"])}


def _preview(collection: Collection, what: dict[str, Any], reader: Any) -> dict[str, Any]:
    """Return the labels that would be frozen, and the warnings."""
    rounds = what.pop("rounds")
    preview = look(collection, rounds, Consolidation(**what))
    settled = preview.settled
    grades = {one.value: one.label for round_ in rounds for one in round_.scale.grades.all()}
    return {
        "subject": next(iter(rounds), None),
        "settled": settled,
        "bars": bars(settled.by_grade, grades),
        "withheld": grade_visibility.hiding_round(reader, collection, lambda: settled.documents) is not None,
        "top": max(grades, default=3),
        "grades": [grade(value, max(grades), label) for value, label in grades.items()],
        "rules": _rules(preview, grades),
        "held": [
            {"one": one, "shape": SHAPES[one.answer.state], "words": WORDS[one.answer.state]} for one in preview.held
        ],
        "failed": preview.failed,
        "stale": preview.stale,
        "pairs": address(rounds, preview.how),
        "waiting": _waiting(rounds, reader) if settled.unresolved else [],
        "bridges": [
            {"bridge": one, "words": merging.in_words(one), "agreement": one.agreement if one.shared else None}
            for one in settled.merged.bridges
        ],
        "refused": preview.refused,
        "doubts": preview.doubts,
    }


def _waiting(rounds: list[Round], reader: Any) -> list[tuple[Round, int]]:
    """Return the rounds with open conflicts, as far as the reader may see them."""
    counted = ((round_, conflicts.count_open(round_, viewer=reader).number) for round_ in rounds)
    return [(round_, many) for round_, many in counted if many]


def _rules(preview: FreezePreview, grades: dict[int, str]) -> list[dict[str, Any]]:
    """Return each rule with its labels by grade and the number of graded pairs that it leaves without a label."""
    return [
        {
            "effect": one,
            "title": RULES[one.rule].title,
            "chosen": one.rule == preview.how.rule,
            "counts": [one.by_grade.get(value, 0) for value in grades],
            "none": preview.rated - one.labels,
        }
        for one in preview.rules
    ]


SHAPES = {"passed": "done", "undecided": "warn", "failed": "fail", "undefined": "todo"}
WORDS = {word: f"gate {word}" for word in SHAPES} | {"undefined": "gate cannot be checked"}

SNAPSHOTS = Listing(
    name="snapshots",
    noun=("snapshot", "snapshots"),
    columns=(
        Column("name", "Snapshot", order="name", head=True, url=("snapshot", "uuid")),
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


@get_page.of_collection(access.STAFF)
def snapshot_list(request: HttpRequest, collection: Collection) -> HttpResponse:
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
    ratings = any(entry["format"] == "ratings-csv" for entry in manifest["files"])
    context = {
        "collection": row.collection,
        "snapshot": row,
        "manifest": manifest,
        "bars": bars({int(value): number for value, number in row.summary["by_grade"].items()}, scale),
        "withheld": bool(snapshots.withheld_queries(request.user, row)),
        "hashes": grade_visibility.may_read_hashes(request.user, row.collection),
        "top": max(scale, default=3),
        "files": manifest["files"],
        "converted": [FORMATS[name] for name in snapshots.formats() if name in snapshots.CONVERTED] if ratings else [],
        "workbook_fault": snapshots.workbook_fault(),
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
