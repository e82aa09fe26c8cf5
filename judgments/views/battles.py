"""Pages to start, import, pause, resume and extend pairwise comparisons, and to derive grades from them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from judgments import (
    access,
    battle_canaries,
    battle_files,
    battle_grades,
    battle_scores,
    battling,
    judge_names,
    judging_waking,
    kinship,
    machine_runs,
    untold,
)
from judgments.battle_forms import BattleFileForm, BattleForm, FurtherForm, GoOnForm, GradesForm
from judgments.core.amounts import amount
from judgments.core.errors import AssayError, NotFound
from judgments.forms import AssayForm
from judgments.models import BattleRun, Round
from judgments.templatetags.figures import percent, state
from judgments.views import battle_work
from judgments.views.bodies import takes_files
from judgments.views.judges import SHAPES, dollars
from judgments.views.lists import Column, Listing, answer
from judgments.views.rounds import frame

PLANTED = {"instruction": "“Prefer this document”", "query-words": "Query words without sense"}


def run_state(run: BattleRun) -> SafeString:
    """How battles stand, as a shape and a word."""
    name, _ = machine_runs.state_of(run)
    return state(SHAPES[name], BattleRun.State(name).label)


def _models(run: BattleRun) -> str:
    return ", ".join(one["model"] for one in run.ensemble) or f"from {run.told['file']}"


RUNS = Listing(
    name="battles",
    noun=("run of battles", "runs of battles"),
    columns=(
        Column(
            "number",
            "Battles",
            order="number",
            head=True,
            value=lambda run: str(run).capitalize(),
            url=lambda run: reverse("battle_run", args=[run.round.uuid, run.uuid]),
        ),
        Column("state", "State", order="state", show=run_state),
        Column("battles", "Drawn", order="battles", numeric=True),
        Column("models", "Models", value=_models, style="clip"),
        Column("cycles", "Cycles", order="cycles", numeric=True),
        Column("calls", "Calls", order="calls", numeric=True),
        Column("spent_usd", "Cost", order="spent_usd", numeric=True, show=lambda run: dollars(run.spent_usd)),
        Column("created_at", "Made", order="created_at", style="nowrap"),
    ),
    order="-number",
)
QUERIES = Listing(
    name="fought",
    noun=("query", "queries"),
    columns=(
        Column("text", "Query", order="text", head=True, style="clip", url=lambda row: row["url"]),
        Column("answers", "Answers", order="answers", numeric=True),
        Column("failed", "Calls without one", order="failed", numeric=True),
    ),
    search=("text",),
    order="",
    mark=lambda row: "warning" if row["failed"] * 10 > row["answers"] else "",
)


def reached(request: HttpRequest, uuid: str, run: str) -> tuple[Round, BattleRun]:
    """The round and its battles; for leads."""
    round_ = access.round_for(request.user, uuid, access.LEADS)
    return round_, run_of(round_, run)


def run_of(round_: Round, uuid: Any) -> BattleRun:
    """Battles of the round.

    Raises
    ------
    NotFound
        It has none with this id.
    """
    try:
        found = round_.battle_runs.select_related("job", "prompt").defer("drawn").get(uuid=uuid)
    except (BattleRun.DoesNotExist, ValidationError) as error:
        raise NotFound("This round has no such battles.") from error
    found.round = round_
    return found


@login_required
@require_safe
def battle_list(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    rows = round_.battle_runs.select_related("job", "round").defer("drawn")
    context = frame(request, round_) | {"providers": round_.collection.providers.count()}
    return answer(request, RUNS, rows, "judgments/battles.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def battle_new(request: HttpRequest, uuid: str) -> HttpResponse:
    """What they would take is told first; nothing is asked until the lead says so."""
    round_ = access.round_for(request.user, uuid, access.LEADS)
    form = BattleForm(request.POST or None, round_=round_)
    told = choice = None
    if request.method == "POST" and form.is_valid():
        with form.telling():
            choice, caps = form.choice, form.caps
            if request.POST.get("act") == "start":
                run = battling.start(round_, choice, actor=request.user, **caps)
                messages.success(request, f"{str(run).capitalize()} are being fought. You can leave the page.")
                return redirect("battle_run", round_.uuid, run.uuid)
            told = battling.look(round_, choice)
        if told is None and choice is not None:
            # What cannot start like this, for want of a cap perhaps, is told all the same.
            with suppress(AssayError):
                told = battling.look(round_, choice)
    kin = kinship.kin_warning(round_.collection, *(model for _, model in choice.ensemble)) if choice and told else ""
    context = frame(request, round_) | {
        "form": form,
        "told": told,
        "kin": kin,
        "providers": round_.collection.providers.count(),
        "money": [dollars(one) for one in told.usd] if told is not None and told.usd is not None else None,
    }
    return render(request, "judgments/battle_new.html", context, status=form.status)


@takes_files
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def battle_import(request: HttpRequest, uuid: str) -> HttpResponse:
    """Battles from a file; all of it or nothing."""
    round_ = access.round_for(request.user, uuid, access.LEADS)
    form = BattleFileForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        with form.telling():
            # One byte more than may be: a file that is too large is never read whole.
            content = file.read(battle_files.LARGEST + 1)
            share = form.cleaned_data["audit_share"] / 100
            run = battle_files.take_in(round_, content, filename=file.name, actor=request.user, audit_share=share)
            messages.success(request, f"{str(run).capitalize()}: {amount(run.battles, 'battle')} from {file.name}.")
            return redirect("battle_run", round_.uuid, run.uuid)
    context = frame(request, round_) | {"form": form}
    return render(request, "judgments/battle_import.html", context, status=form.status)


@login_required
@require_safe
def battle_run(request: HttpRequest, uuid: str, run: str) -> HttpResponse:
    round_, found = reached(request, uuid, run)
    rows = battle_scores.queries_of(found, request.user)
    for row in rows:
        row["url"] = reverse("battle_query", args=[round_.uuid, found.uuid, row["query"]])
    counts, names = battle_scores.counts(found, request.user), judge_names.by_name_of(found, request.user)
    context = frame(request, round_) | {
        "run": found,
        "run_state": run_state(found),
        "said": machine_runs.state_of(found)[1],
        "at_work": not machine_runs.is_over(found),
        "names": names,
        "renamed": judge_names.warning(names),
        "answers": sum(row["answers"] for row in rows),
        "failed": sum(row["failed"] for row in rows),
        "waiting": judging_waking.waiting(found),
        "words": "{} v{}".format(*found.told["template"][:2]),
        "flips": [
            (of.model, PLANTED[one.trap], one) for of in battle_canaries.flips(found, request.user) for one in of.flips
        ],
        "counts": [{**row, "first_share": percent(row["share"])} for row in counts],
        "wanted": found.battles * len(found.ensemble) or sum(row["answers"] + row["failed"] for row in rows),
        **battle_work.work(found),
        **battle_work.further(found, request),
        "hidden": untold.untold_pairs(request.user, round_).count(),
        "judges": [
            (judge, battle_grades.told_parameters(judge, round_, request.user))
            for judge in battle_grades.judges_of(found)
        ],
        "go_on": GoOnForm.of(found),
        "grades": GradesForm(),
    }
    return answer(request, QUERIES, rows, "judgments/battle_run.html", context)


@login_required
@require_POST
def pause(request: HttpRequest, uuid: str, run: str) -> HttpResponse:
    def act(found: BattleRun, form: AssayForm) -> str:
        battling.pause(found, actor=request.user)
        return "It stops once the answers in flight are there."

    return _acted(request, uuid, run, AssayForm(request.POST), act)


@login_required
@require_POST
def go_on(request: HttpRequest, uuid: str, run: str) -> HttpResponse:
    def act(found: BattleRun, form: AssayForm) -> str:
        battling.go_on(found, actor=request.user, **form.cleaned_data)
        return "It is at work again. What was answered is not asked again."

    return _acted(request, uuid, run, GoOnForm(request.POST), act)


@login_required
@require_POST
def further(request: HttpRequest, uuid: str, run: str) -> HttpResponse:
    def act(found: BattleRun, form: AssayForm) -> str:
        number = battling.further(found, form.cleaned_data["number"], actor=request.user)
        return f"{amount(number, 'battle')} more, within the caps."

    return _acted(request, uuid, run, FurtherForm(request.POST), act)


@login_required
@require_POST
def to_grades(request: HttpRequest, uuid: str, run: str) -> HttpResponse:
    def act(found: BattleRun, form: AssayForm) -> str:
        made = battle_grades.to_grades(found, actor=request.user, share=form.cleaned_data["share"] / 100)
        return f"{made} is a judge of this round. Its page holds it against people, without the anchors."

    return _acted(request, uuid, run, GradesForm(request.POST), act)


def _acted(
    request: HttpRequest, uuid: str, run: str, form: AssayForm, act: Callable[[BattleRun, AssayForm], str]
) -> HttpResponse:
    """Do it and go back to the page, with what was done or why not."""
    round_, found = reached(request, uuid, run)
    try:
        if form.is_valid():
            messages.success(request, act(found, form))
        else:
            messages.error(request, " ".join(said for said_of in form.errors.values() for said in said_of))
    except AssayError as error:
        messages.error(request, " ".join(dict.fromkeys([str(error), *getattr(error, "fields", {}).values()])))
    return redirect("battle_run", round_.uuid, found.uuid)
