"""Gold pairs page of a round, for leads: add and remove gold pairs, and see which raters are qualified."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.safestring import SafeString

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from judgments.labels import grade_visibility
from judgments.models import GoldPair, Role, Round
from judgments.quality import gold_pairs, qualification
from judgments.quality.gold_pairs import Known
from judgments.rounds import settings
from judgments.rounds.forms import setting_field
from judgments.rounds.views import frame
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import grade
from judgments.web.forms import AssayForm
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.middleware import takes_files
from judgments.web.pages import errors_as_messages, form_page
from judgments.web.posted_values import uuid_of

USES = [(GoldPair.Use.CALIBRATION.value, "for qualification"), (GoldPair.Use.HIDDEN.value, "hidden in the round")]
SUGGESTED = 10


class OneForm(AssayForm):
    use = forms.ChoiceField(label="Use", choices=USES)
    query_id = forms.CharField(label="Query id", max_length=500)
    doc_id = forms.CharField(label="Document id", max_length=500)
    grade = forms.IntegerField(label="Grade", min_value=0, max_value=100)
    explanation = forms.CharField(
        label="Explanation (optional)",
        required=False,
        max_length=gold_pairs.LONGEST_EXPLANATION,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Raters read it after they grade the pair in the qualification.",
    )


class FileForm(AssayForm):
    use = forms.ChoiceField(label="Use", choices=USES)
    file = forms.FileField(label="CSV file", help_text="UTF-8 with the header query_id,doc_id,grade,explanation.")


class SettingsForm(AssayForm):
    pass_mark = setting_field(
        "pass_mark",
        "0.01",
        label="Share of correct grades required to qualify",
        help_text="For example 0.8. Leave it empty for no qualification.",
    )
    pass_within = setting_field("pass_within", required=True, max_value=100, help_text="0 requires the exact grade.")
    gold_every = setting_field(
        "gold_every", label="One hidden gold pair per", help_text="For example 20. Leave it empty for none."
    )
    repeat_share = setting_field("repeat_share", "0.01", required=True, help_text="For example 0.05. 0 means none.")

    def __init__(self, round_: Round, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in settings.fixed(round_):
            if name in self.fields:
                self.fields[name].disabled = True
                self.fields[name].help_text = "You can’t change this after the round opens."


def _key(known: Known) -> str:
    return json.dumps(known.key)


def _box(known: Known) -> SafeString:
    """Return a checkbox that belongs to the form below the table."""
    return format_html(
        '<input type="checkbox" form="take" name="pair" value="{}" aria-label="{}">',
        _key(known),
        f"{known.query} with {known.document}",
    )


def _known_list(top: int) -> Listing:
    """Return the list of candidates from other rounds, with checkboxes; ``top`` is the highest grade."""
    return Listing(
        name="known",
        noun=("pair", "pairs"),
        columns=(
            Column("take", "Select", value=lambda row: "", show=_box),
            Column("query", "Query", order="query", value="query.text", head=True, style="clip"),
            Column("grade", "Grade", order="grade", numeric=True, show=lambda row: grade(row.grade, top)),
            Column("document", "Document", order="document", value=lambda row: str(row.document), style="clip"),
            Column("source", "Source", order="source", value=lambda row: f"{row.source} in {row.round}"),
            Column("explanation", "Reason", style="clip muted"),
            Column("query_id", "Query id", value="query.query_id", style="id"),
            Column("doc_id", "Document id", value="document.doc_id", style="id"),
        ),
        search=("query.text", "query.query_id", "document.title", "document.doc_id"),
        choices=(
            ChoiceFilter(
                "source",
                "Source",
                lambda rows, value: [row for row in rows if row.source == value],
                [(gold_pairs.SETTLED, "settled"), (gold_pairs.UNANIMOUS, "unanimous")],
            ),
        ),
        order="query",
        page_size=20,
    )


@takes_files
@form_page.of_round(access.LEADS)
def page(request: HttpRequest, round_: Round) -> HttpResponse:
    act = request.POST.get("act", "") if request.method == "POST" else ""
    one = OneForm(request.POST if act == "one" else None, prefix="one").worded_for(round_)
    file = FileForm(*((request.POST, request.FILES) if act == "file" else ()), prefix="file").worded_for(round_)
    wanted = SettingsForm(
        round_,
        request.POST if act == "settings" else None,
        prefix="settings",
        initial={name: getattr(round_, name) for name in SettingsForm.base_fields},
    )
    forms_ = {"one": one, "file": file, "settings": wanted}
    form = forms_.get(act)
    if act and form is None:
        return _done(request, round_, act)
    if form is not None and form.is_valid():
        with form.telling():
            ACTS[act](request, round_, form.cleaned_data)
            return redirect("calibration", round_.uuid)
    if request.method == "POST" and not act:
        wanted = SettingsForm(round_, request.POST, prefix="settings")
        wanted.is_valid()
    context = _context(request, round_) | {"one": one, "file": file, "settings": wanted}
    known = context["known"]
    shown = answer(
        request, _known_list(context["top"]).worded_for(round_), known, "judgments/quality/calibration.html", context
    )
    shown.status_code = max(shown.status_code, *(one.status for one in (one, file, wanted)))
    return shown


def _context(request: HttpRequest, round_: Round) -> dict[str, Any]:
    away = grade_visibility.hidden_keys(request.user, round_.collection)
    rows = round_.gold.select_related("query", "document").prefetch_related("probes")
    pairs = [(row, (row.query.query_id, row.document.doc_id) in away, bool(row.probes.all())) for row in rows]
    around = frame(request, round_)
    return {
        **around,
        # If every query has only one document, a gold pair of another query does not stand out.
        "strange": gold_pairs.outside(round_) if around["pair_count"] > around["query_count"] else 0,
        "pairs": pairs,
        "calibrating": sum(row.use == GoldPair.Use.CALIBRATION for row, _, _ in pairs),
        "hidden": sum(row.use == GoldPair.Use.HIDDEN for row, _, _ in pairs),
        "known": gold_pairs.known_elsewhere(round_, viewer=request.user),
        "results": qualification.results(round_),
        "suggested": SUGGESTED,
        "top": max(round_.scale.values()),
        "leads": set(round_.collection.memberships.filter(role=Role.LEAD).values_list("user", flat=True)),
    }


def _done(request: HttpRequest, round_: Round, act: str) -> HttpResponse:
    """Show the error of an action that has no form field."""
    verbs: dict[str, Callable[[HttpRequest, Round], str]] = {"take": _take, "suggest": _suggest, "remove": _remove}
    with errors_as_messages(request):
        if act not in verbs:
            raise NotValid("This page is out of date. Reload it.")
        messages.success(request, verbs[act](request, round_))
    return redirect("calibration", round_.uuid)


def _take(request: HttpRequest, round_: Round) -> str:
    named = set(request.POST.getlist("pair"))
    chosen = [one for one in gold_pairs.known_elsewhere(round_, viewer=request.user) if _key(one) in named]
    made = gold_pairs.add(round_, chosen, use=request.POST.get("use", ""), actor=request.user)
    return f"Added {amount(len(made), 'pair')}."


def _suggest(request: HttpRequest, round_: Round) -> str:
    text = request.POST.get("number", "")
    if not (text.isascii() and text.isdigit() and len(text) < 5 and int(text)):
        raise NotValid(f"Enter a whole number from 1 to {gold_pairs.MOST:,}.")
    known = gold_pairs.known_elsewhere(round_, viewer=request.user)
    chosen = gold_pairs.suggested(known, number=int(text), seed=round_.seed)
    made = gold_pairs.add(round_, chosen, use=request.POST.get("use", ""), actor=request.user)
    return f"Added {amount(len(made), 'pair')}, spread evenly over the grades, drawn with seed {round_.seed}."


def _remove(request: HttpRequest, round_: Round) -> str:
    rows = round_.gold.filter(uuid=uuid_of(request.POST.get("gold", "")))
    row = access.existing(rows, "This gold pair no longer exists.")
    gold_pairs.remove(row, actor=request.user)
    return f"Removed {row}."


def _one(request: HttpRequest, round_: Round, data: dict[str, Any]) -> None:
    known = gold_pairs.from_rows(round_.collection, [(1, data)], field="query_id")
    gold_pairs.add(round_, known, use=data["use"], actor=request.user)
    messages.success(request, f"Added {known[0].query} with {known[0].document}.")


def _file(request: HttpRequest, round_: Round, data: dict[str, Any]) -> None:
    known = gold_pairs.read_csv(round_.collection, data["file"].read(gold_pairs.LARGEST + 1))
    try:
        made = gold_pairs.add(round_, known, use=data["use"], actor=request.user)
    except NotValid as error:
        raise NotValid(str(error), "file") from None
    messages.success(request, f"Added {amount(len(made), 'pair')}.")


def _change(request: HttpRequest, round_: Round, data: dict[str, Any]) -> None:
    fixed = settings.fixed(round_)
    changes = {name: value for name, value in data.items() if name not in fixed}
    settings.change(round_, changes, actor=request.user)
    messages.success(request, "Settings saved.")


ACTS: dict[str, Callable[[HttpRequest, Round, dict[str, Any]], None]] = {
    "one": _one,
    "file": _file,
    "settings": _change,
}
