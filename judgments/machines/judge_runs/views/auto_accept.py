"""View for a lead to turn auto-acceptance of a judge's lowest grade on or off."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from assay.core.counted_nouns import amount
from assay.core.errors import AssayError
from judgments.machines.calibration import auto_accept
from judgments.machines.judge_runs.forms import AcceptForm
from judgments.machines.judge_runs.views.judges import reached


@login_required
@require_POST
def accept(request: HttpRequest, uuid: str, judge: str) -> HttpResponse:
    round_, judge_row, _ = reached(request, uuid, judge)
    form = AcceptForm(request.POST)
    try:
        if request.POST.get("act") == "draft":
            made = auto_accept.draft_round(round_, actor=request.user)
            messages.success(
                request,
                f"{made} is a draft with {amount(made.pairs_made, 'pair')}, without accepted pairs. Check its "
                "raters, "
                f"open it, and close {round_}, so that raters get no other pairs there.",
            )
            return redirect("round_progress", made.uuid)
        if request.POST.get("act") == "end":
            standing = auto_accept.active_accept(round_)
            if standing is not None:
                auto_accept.deactivate(standing, actor=request.user)
            messages.success(request, "Auto-accept turned off.")
        elif form.is_valid():
            auto_accept.activate(round_, judge_row, bound=form.cleaned_data["bound"] / 100, actor=request.user)
            messages.success(request, "Auto-accept turned on. It stays on while people confirm the lowest grade.")
        else:
            messages.error(request, " ".join(message for errors in form.errors.values() for message in errors))
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("machine_judge", round_.uuid, judge)
