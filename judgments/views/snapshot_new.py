"""Page to freeze a snapshot: choose rounds and a rule, preview the labels and warnings, freeze."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from judgments import access, conflicts, judged, labels, merging, snapshots
from judgments.core.amounts import amount
from judgments.forms import AssayForm
from judgments.freeze_preview import FreezePreview, look
from judgments.labels import Consolidation
from judgments.models import Collection, Round
from judgments.views.snapshot_pairs import address
from judgments.views.snapshots import SHAPES, WORDS, bars

MERGES = {
    merging.NEWEST: "the newest round wins for each pair",
    merging.SAME: "the same, and only rounds of one guidelines version",
    merging.BRIDGED: "the same, and older guidelines only where 20 % of their pairs were rated again",
}
SOURCES = {
    "human": "what people judged here",
    "imported": "imported labels, where nobody here judged the pair",
    "machine": "a machine judge, where no person has a label; marked in the files",
    "accepted": "the lowest grades of a judge that you let stand; marked in the files",
}
UNRATEABLE = {
    labels.EXCLUDED: "it has no label",
    labels.ZERO: "it has the lowest grade, as a document that helps nobody",
}


class ChoiceForm(AssayForm):
    """Which labels, and by which rule. It stands in the address, so that it can be sent on."""

    rounds = forms.ModelMultipleChoiceField(
        Round.objects.none(), to_field_name="uuid", required=False, widget=forms.CheckboxSelectMultiple
    )
    rule = forms.ChoiceField(label="Label rule", widget=forms.RadioSelect)
    unrateable = forms.ChoiceField(
        label="A pair that nobody could judge",
        choices=list(UNRATEABLE.items()),
        required=False,
        widget=forms.RadioSelect,
    )
    sources = forms.MultipleChoiceField(
        label="Labels come from", choices=list(SOURCES.items()), widget=forms.CheckboxSelectMultiple
    )
    named = forms.MultipleChoiceField(
        label="Which label sources",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all that were imported, no clicks. Clicks fill in where nothing else has a label.",
    )
    judge = forms.ChoiceField(label="Which machine judge", required=False)
    merge = forms.ChoiceField(label="A pair in several rounds", choices=list(MERGES.items()), widget=forms.RadioSelect)

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        from judgments.aggregation.rules import RULES

        super().__init__(*args, **kwargs)
        with_words = collection.rounds.active().select_related("guidelines", "scale").prefetch_related("scale__grades")
        self.fields["rounds"].queryset = with_words
        self.fields["rounds"].label_from_instance = _round_words
        self.fields["rule"].choices = [(name, f"{RULES[name].title}: {RULES[name].description}") for name in RULES]
        listed = list(collection.label_sources.order_by("name"))
        imported = bool(listed)
        self.fields["named"].choices = [(one.name, f"{one.name} ({one.get_kind_display()})") for one in listed]
        self.nothing = not imported and not collection.rounds.exists()
        rows = collection.judges.defer("told").order_by("name")
        judges = [judge.name for judge in rows if judged.has_grades(judge)]
        self.fields["judge"].choices = [("", "none"), *((name, name) for name in judges)]
        there = {"human", *(["imported"] if imported else []), *(["machine", "accepted"] if judges else [])}
        self.fields["sources"].choices = [one for one in SOURCES.items() if one[0] in there]
        if not imported:
            del self.fields["named"]
        if not judges:
            del self.fields["judge"]

    def clean_unrateable(self) -> str:
        return self.cleaned_data["unrateable"] or labels.EXCLUDED


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

    def ask_why(self) -> None:
        """A round fails its gate: without a reason nothing is frozen."""
        self.fields["override_reason"].label = "Why freeze although a round fails its gate"
        self.fields["override_reason"].widget.attrs["required"] = True


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
            if found["failed"]:
                form.ask_why()
    if request.method == "POST" and found and form.is_valid():
        with form.telling():
            frozen = snapshots.freeze(collection, actor=request.user, **_what(choice), **form.cleaned_data)
            many = amount(frozen.summary["labels"], "label")
            messages.success(request, f"Frozen: {many}. Nothing can change them any more.")
            return redirect("snapshot", frozen.uuid)
    context = {"collection": collection, "choice": choice, "form": form, "step": "snapshot", **found}
    status = choice.status if request.method == "POST" and not found else form.status
    return render(request, "judgments/snapshot_new.html", context, status=status)


def _chosen(request: HttpRequest, collection: Collection) -> dict[str, Any]:
    """What was chosen in the address or in the form; at first the newest round and the usual rule."""
    given = request.POST if request.method == "POST" else request.GET
    if "rule" in given:
        several = {name: given.getlist(name) for name in ("rounds", "sources", "named")}
        return {**several, **{name: given.get(name, "") for name in ("rule", "merge", "unrateable", "judge")}}
    wanted = given.getlist("rounds") or [str(uuid) for uuid in collection.rounds.values_list("uuid", flat=True)[:1]]
    usual = {"rule": "median", "merge": merging.NEWEST, "unrateable": labels.EXCLUDED}
    return {"rounds": wanted, "sources": ["human" if wanted else "imported"], **usual}


def _what(choice: ChoiceForm) -> dict[str, Any]:
    return {**choice.cleaned_data, "rounds": list(choice.cleaned_data["rounds"])}


def _preview(collection: Collection, what: dict[str, Any], reader: Any) -> dict[str, Any]:
    """What would be frozen, and what stands against it."""
    rounds = list(what["rounds"])
    named = tuple(what.get("named", ()))
    judge = what.get("judge", "")
    how = Consolidation(what["rule"], tuple(what["sources"]), what["merge"], named, what["unrateable"], judge)
    found = look(collection, rounds, how)
    settled = found.settled
    grades = {one.value: one.label for round_ in rounds for one in round_.scale.grades.all()}
    return {
        "settled": settled,
        "bars": bars(settled.by_grade, grades),
        "withheld": snapshots.withheld_by(collection, reader, lambda: found.documents) is not None,
        "top": max(grades, default=3),
        "grades": list(grades.items()),
        "rules": _rules(found, grades),
        "held": [{"one": one, "shape": SHAPES[one.state], "words": WORDS[one.state]} for one in found.held],
        "failed": found.failed,
        "stale": found.stale,
        "pairs": address(rounds, how),
        "waiting": _waiting(rounds, reader) if settled.unsettled else [],
        "bridges": [_bridge(one) for one in settled.merged.bridges],
        "refused": found.refused,
        "doubts": found.doubts,
    }


def _waiting(rounds: list[Round], reader: Any) -> list[tuple[Round, int]]:
    """The rounds with conflicts that a person could still settle, as far as the reader is shown them."""
    counted = ((round_, conflicts.open_conflicts(round_, viewer=reader)) for round_ in rounds)
    return [(round_, many) for round_, many in counted if many]


def _rules(found: FreezePreview, grades: dict[int, str]) -> list[dict[str, Any]]:
    """Each rule with its labels by grade, and how many pairs with grades it leaves without one."""
    from judgments.aggregation.rules import RULES

    return [
        {
            "effect": one,
            "title": RULES[one.rule].title,
            "chosen": one.rule == found.how.rule,
            "counts": [one.by_grade.get(value, 0) for value in grades],
            "none": found.rated - one.labels,
        }
        for one in found.rules
    ]


def _bridge(bridge: merging.Bridge) -> dict[str, Any]:
    agreement = bridge.agreement if bridge.shared else None
    return {"bridge": bridge, "words": merging.in_words(bridge), "agreement": agreement}
