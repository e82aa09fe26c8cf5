"""Page to resolve all one-step conflicts by a label rule: preview, the act, and the acts so far with their undo."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from assay.aggregation import RULES
from assay.core.errors import AssayError
from assay.core.text_rules import amount
from judgments.agreement import bulk_resolutions, resolutions
from judgments.models import Round
from judgments.rounds.views import frame
from judgments.web import access
from judgments.web.forms import AssayForm
from judgments.web.pages import errors_as_messages, finish, form_page, post_action


class ByRuleForm(AssayForm):
    """Form for the rule, the reason, and the preview that the lead saw."""

    rule = forms.ChoiceField(label="Label rule", choices=list)
    reason = forms.CharField(
        label="Reason shown to raters (optional)",
        required=False,
        max_length=resolutions.LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    previewed_at = forms.DateTimeField(widget=forms.HiddenInput, required=False)
    client_id = forms.UUIDField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["rule"].choices = [(name, f"{RULES[name].title}: {RULES[name].description}") for name in RULES]  # type: ignore[attr-defined]


@form_page.of_round(access.LEADS)
def by_rule(request: HttpRequest, round_: Round) -> HttpResponse:
    form = ByRuleForm(request.POST) if request.method == "POST" else None
    if form is not None and form.is_valid():
        with form.telling():
            act = bulk_resolutions.resolve_by_rule(round_, actor=request.user, **form.cleaned_data)  # type: ignore[arg-type]
            return finish(request, _words(act), "conflicts_by_rule", round_.uuid)
    return _page(request, round_, form)


def _page(request: HttpRequest, round_: Round, posted: ByRuleForm | None) -> HttpResponse:
    given = request.GET.get("rule") or (posted["rule"].value() if posted else "")
    rule = given if given in RULES else "median"
    preview, refusal = None, ""
    try:
        preview = bulk_resolutions.preview(round_, rule=rule, viewer=request.user)
    except AssayError as error:
        refusal = str(error)
    initial: dict[str, Any] = {"rule": rule, "client_id": uuid_module.uuid4()}
    if preview is not None:
        initial["previewed_at"] = preview.previewed_at.isoformat()
    values = list(round_.scale.grades.all())
    context = {
        **frame(request, round_, "agreement"),
        "form": ByRuleForm(initial=initial),
        "faults": posted,
        "preview": preview,
        "refusal": refusal,
        "rule": rule,
        "default_reason": bulk_resolutions.default_reason(rule),
        "by_grade": [(one, preview.by_grade.get(one.value, 0)) for one in values] if preview else [],
        "top": max(one.value for one in values),
        "two_grades": len(values) == 2,
        "acts": [
            (row, RULES[row.detail["rule"]].title if row.detail["rule"] in RULES else row.detail["rule"])
            for row in bulk_resolutions.acts(round_).select_related("actor")[:20]
        ],
    }
    return render(request, "judgments/agreement/by_rule.html", context, status=posted.status if posted else 200)


def _words(act: bulk_resolutions.Act) -> str:
    skipped = [
        (act.skipped_resolved, "resolved by a lead in the meantime"),
        (act.skipped_changed, "changed by raters in the meantime"),
        (act.undecided, "not decided by the rule"),
        (act.remaining, "left for the next time"),
    ]
    rest = "".join(f" {number:,} {words}." for number, words in skipped if number)
    return f"Resolved {amount(act.resolved, 'conflict')}.{rest}"


@post_action.of_round(access.LEADS)
def undo(request: HttpRequest, round_: Round, act: uuid_module.UUID) -> HttpResponse:
    with errors_as_messages(request):
        row = bulk_resolutions.undo(round_, act, actor=request.user)  # type: ignore[arg-type]
        unchanged = f" {amount(row.detail['kept'], 'pair')} changed by hand since stay." if row.detail["kept"] else ""
        messages.success(request, f"Undid {amount(row.detail['undone'], 'resolution')}.{unchanged}")
    return redirect("conflicts_by_rule", round_.uuid)
