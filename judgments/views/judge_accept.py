"""View for a lead to auto-accept a judge's lowest grade, or to end that."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from judgments import auto_accept
from judgments.core.amounts import amount
from judgments.core.errors import AssayError
from judgments.judge_forms import AcceptForm
from judgments.views.judges import reached


@login_required
@require_POST
def accept(request: HttpRequest, uuid: str, judge: str) -> HttpResponse:
    round_, found, _ = reached(request, uuid, judge)
    form = AcceptForm(request.POST)
    try:
        if request.POST.get("act") == "draft":
            made = auto_accept.draft_round(round_, actor=request.user)
            messages.success(
                request,
                f"{made} is a draft with {amount(made.pairs_made, 'pair')}, without those that stand. Look at its "
                "raters, "
                f"open it, and close {round_}, so that nobody is handed the others there.",
            )
            return redirect("round_progress", made.uuid)
        if request.POST.get("act") == "end":
            standing = auto_accept.asked_for(round_)
            if standing is not None:
                auto_accept.end(standing, actor=request.user)
            messages.success(request, "None of its grades stands without a person any more.")
        elif form.is_valid():
            auto_accept.ask(round_, found, bound=form.cleaned_data["bound"] / 100, actor=request.user)
            messages.success(request, "Its lowest grade stands from now on, as long as people confirm it.")
        else:
            messages.error(request, " ".join(said for said_of in form.errors.values() for said in said_of))
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("machine_judge", round_.uuid, judge)
