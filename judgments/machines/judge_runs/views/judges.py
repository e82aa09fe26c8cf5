"""Judge pages of a round: the machine judges, their answers and costs, and the form to add one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString

from assay.core.errors import AssayError, NotFound
from assay.core.text_rules import amount
from assay.formats import pairs_jsonl
from assay.formats.row_types import PairRow
from judgments.machines import kinds, machine_runs
from judgments.machines.calibration import auto_accept, calibration, cost
from judgments.machines.judge_runs import judge_runs, judge_settings, labels_export, model_judges, retry
from judgments.machines.judge_runs.estimate import CostEstimate, context_of
from judgments.machines.judge_runs.judge_settings import JudgeSettings
from judgments.machines.judge_runs.round_form import AcceptForm, GoOnForm, JudgeForm, go_on_form
from judgments.machines.kinds import GRADED, Kind
from judgments.models import Grade, Judge, JudgeRun, MachineRun, Pair, Round
from judgments.rounds.views import frame
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.downloads import file_parts, streamed
from judgments.web.figures import state
from judgments.web.lists import Listing, answer, on_record
from judgments.web.middleware import takes_files
from judgments.web.pages import errors_as_messages, form_page, get_page, post_action

Run = TypeVar("Run", bound=MachineRun)
Estimated = TypeVar("Estimated", bound=CostEstimate)
AT_ONCE = 500


def lines(round_: Round) -> Iterator[bytes]:
    """Yield the file in parts: the input of a judge for each pair, in the order of the round."""
    rows = round_.pairs.select_related("query", "document").order_by("position")
    return file_parts(map(_pair_row, rows.iterator(chunk_size=AT_ONCE)), pairs_jsonl.write, AT_ONCE)


def _pair_row(pair: Pair) -> PairRow:
    context = context_of(pair)
    return PairRow(pair.query.query_id, pair.document.doc_id, context.query, context.narrative, context.text)


@post_action
def accept(request: HttpRequest, uuid: str, judge: str) -> HttpResponse:
    round_, judge_row, _ = reached(request, uuid, judge)
    with errors_as_messages(request):
        if request.POST.get("act") == "draft":
            made = auto_accept.draft_round(round_, actor=request.user)
            messages.success(
                request,
                f"{made} is a draft with {amount(made.pairs_made, 'pair')}. It leaves out the accepted pairs. "
                f"Check its raters, open it, and close {round_} so that raters get no more pairs there.",
            )
            return redirect("round_progress", made.uuid)
        if request.POST.get("act") == "end":
            standing = auto_accept.active_accept(round_)
            if standing is not None:
                auto_accept.deactivate(standing, actor=request.user)
            messages.success(request, "Auto-accept turned off.")
        else:
            bound = AcceptForm(request.POST).checked_data()["bound"]
            auto_accept.activate(round_, judge_row, bound=bound, actor=request.user)
            messages.success(request, "Auto-accept turned on. It stays on while people confirm the lowest grade.")
    return redirect("machine_judge", round_.uuid, judge)


SHAPES = {
    "waiting": "todo",
    "running": "doing",
    "done": "done",
    "paused": "todo",
    "budget": "warn",
    "refused": "fail",
    "down": "fail",
    "stopped": "warn",
}


def run_state(run: MachineRun | None) -> SafeString:
    """Return the state of a run as a shape and a word; judges without a run graded at once."""
    if run is None:
        return state("done", "done")
    name, _ = machine_runs.state_of(run)
    return state(SHAPES[name], MachineRun.State(name).label)


def run_context(run: MachineRun | None) -> dict[str, Any]:
    """Return a run with its state, as the pages of the run show it."""
    return {
        "run": run,
        "run_state": run_state(run),
        "run_message": machine_runs.state_of(run)[1] if run is not None else "",
        "at_work": run is not None and not machine_runs.is_over(run),
        "waiting": retry.wait_of(run) if run is not None else None,
    }


def dollars(value: float | None) -> str:
    """Return an amount in dollars, with two decimals or as many as a small amount needs."""
    if value is None:
        return ""
    return f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.4f}"


def _rows(round_: Round, viewer: Any) -> list[dict[str, Any]]:
    """Return the judges of the round, with a fixed number of database queries."""
    judges = model_judges.in_round(round_.collection, round_)
    runs = {run.judge_id: run for run in round_.judge_runs.select_related("job")}
    counted, titles = calibration.outcomes_by_judge(round_, viewer), {kind.name: kind.title for kind in kinds.kinds()}
    return [
        _row(judge, round_, runs.get(judge.pk), counted.get(judge.pk, {}))
        | {"kind": titles.get(judge.kind, judge.kind)}
        for judge in judges
    ]


def _row(judge: Judge, round_: Round, run: JudgeRun | None, outcomes: Mapping[str, int]) -> dict[str, Any]:
    graded = outcomes.get("graded", 0)
    asks = model_judges.asks_a_model(judge)
    return {
        "judge": judge,
        "uuid": judge.uuid,
        "round": round_,
        "name": judge.name,
        "run": run,
        "state": run.state if run else "done",
        "model": judge.model,
        "graded": graded,
        "failed": sum(outcomes.values()) - graded,
        "cost": run.spent_usd if run and asks and _has_price(judge) else None,
        "calls": run.calls if run and asks else None,
        "created_at": judge.created_at,
    }


def _has_price(judge: Judge) -> bool:
    known = judge.provider.offered(judge.model) if judge.provider is not None else None
    return known is not None and known["price_in"] is not None


JUDGES = Listing(
    name="judges",
    noun=("judge", "judges"),
    columns=(
        Column("name", "Judge", order="name", head=True, style="clip", url=("machine_judge", "round.uuid", "uuid")),
        Column("state", "State", order="state", show=lambda row: run_state(row["run"])),
        Column("kind", "Kind", order="kind", style="clip"),
        Column("graded", "Answered", order="graded", numeric=True),
        Column("failed", "Failed", order="failed", numeric=True),
        Column("calls", "Calls", order="calls", numeric=True),
        Column("cost", "Cost", order="cost", numeric=True, show=lambda row: dollars(row["cost"])),
        Column("model", "Model", order="model", style="clip"),
        Column("created_at", "Created", order="created_at", style="nowrap"),
    ),
    search=("name", "model", "kind"),
    order="-created_at",
)


@get_page.of_round(access.LEADS)
def judge_list(request: HttpRequest, round_: Round) -> HttpResponse:
    rows = _rows(round_, request.user)
    context = frame(request, round_) | {"providers": round_.collection.providers.count()}
    return answer(request, JUDGES, rows, "judgments/machines/judge_runs/judges.html", context)


@takes_files
@form_page.of_round(access.LEADS)
def judge_new(request: HttpRequest, round_: Round) -> HttpResponse:
    """Show the estimate first; nothing is sent until the lead confirms."""
    kind = _kind(request.POST.get("kind") or request.GET.get("kind", ""))
    form = JudgeForm(request.POST or None, request.FILES or None, round_=round_, kind=kind)
    run, estimate = start_or_estimate(
        request,
        form,
        lambda choice, caps: judge_runs.start(round_, choice, actor=request.user, **caps),
        lambda choice, caps: judge_runs.estimate_run(round_, choice, canaries=caps["canaries"]),
    )
    if run is not None:
        messages.success(request, f"{run.judge} is running. You can leave the page.")
        return redirect("machine_judge", round_.uuid, run.judge.uuid)
    context = frame(request, round_) | {
        "form": form,
        "kind": kind,
        "kinds": kinds.kinds(),
        "start": "Start judge with these caps" if kind.asks == "model" else "Start judge",
        "estimate": estimate,
        "kin": _kin(round_, form.choice) if estimate is not None else "",
        "providers": round_.collection.providers.count(),
        "money": in_dollars(estimate),
    }
    return render(request, "judgments/machines/judge_runs/judge_new.html", context, status=form.status)


def start_or_estimate(
    request: HttpRequest,
    form: Any,
    start: Callable[[Any, dict[str, Any]], Run],
    estimate: Callable[[Any, dict[str, Any]], Estimated],
) -> tuple[Run | None, Estimated | None]:
    """Start a run with the form's choice and caps if the lead confirmed it; otherwise return its estimate."""
    if request.method == "POST" and form.is_valid():
        given = None
        with form.telling():
            given = form.choice, form.caps
            return (start(*given), None) if request.POST.get("act") == "start" else (None, estimate(*given))
        if given is not None:
            # Show the estimate even if the run cannot start with these settings, for example without a cap.
            with suppress(AssayError):
                return None, estimate(*given)
    return None, None


def in_dollars(estimate: CostEstimate | None) -> list[str] | None:
    """Return the lower and upper bound of the cost; None if it is unknown."""
    return [dollars(one) for one in estimate.usd] if estimate is not None and estimate.usd is not None else None


def _kin(round_: Round, choice: JudgeSettings) -> str:
    return judge_settings.kin_warning(round_.collection, *judge_settings.models_chosen(choice))


def _kind(name: str) -> Kind:
    """Return the kind with this name; the first kind for an unknown name."""
    return next((kind for kind in kinds.kinds() if kind.name == name), kinds.find(GRADED))


@post_action
def pause(request: HttpRequest, uuid: str, judge: str) -> HttpResponse:
    round_, _, run = reached(request, uuid, judge)
    with errors_as_messages(request):
        judge_runs.pause(require_run(run), actor=request.user)
        messages.success(request, "The judge stops after the calls in progress have returned.")
    return redirect("machine_judge", round_.uuid, judge)


@post_action
def go_on(request: HttpRequest, uuid: str, judge: str) -> HttpResponse:
    round_, _, run = reached(request, uuid, judge)
    with errors_as_messages(request):
        judge_runs.resume(require_run(run), actor=request.user, **GoOnForm(request.POST).checked_data())
        messages.success(request, "The judge was resumed. Stored answers are not requested again.")
    return redirect("machine_judge", round_.uuid, judge)


@get_page
def labels(request: HttpRequest, uuid: str, judge: str) -> StreamingHttpResponse:
    """Return all answers of the judge as a file."""
    round_, judge_row, _ = reached(request, uuid, judge)
    parts = labels_export.lines(judge_row, round_, request.user)
    on_record(request, f"the labels of {judge_row.name} in {round_}", round_.collection)
    return streamed(f"{round_.name}-{judge_row.name}.jsonl", parts)


@get_page.of_round(access.LEADS)
def pairs(request: HttpRequest, round_: Round) -> StreamingHttpResponse:
    """Return the round's pairs as a file for judges that run elsewhere."""
    return streamed(f"{round_.name}-pairs.jsonl", lines(round_))


def reached(request: HttpRequest, uuid: str, judge: str) -> tuple[Round, Judge, JudgeRun | None]:
    """Return the round, a judge of the round, and its run; for leads only."""
    round_ = access.round_for(request.user, uuid, access.LEADS)
    return round_, *judge_of(round_, judge)


def judge_of(round_: Round, uuid: Any) -> tuple[Judge, JudgeRun | None]:
    """Return a judge of the collection with its run in the round."""
    try:
        judge = next(one for one in model_judges.in_round(round_.collection, round_) if str(one.uuid) == str(uuid))
    except (StopIteration, ValidationError) as error:
        raise NotFound("This round has no such judge.") from error
    return judge, judge.runs.select_related("job", "round", "judge").filter(round=round_).first()


def require_run(run: JudgeRun | None) -> JudgeRun:
    """Return the run of a judge that calls a model."""
    if run is None:
        raise NotFound("This judge calls no model in this round.")
    return run


def useful_page(request: HttpRequest, round_: Round, judge: Judge, run: JudgeRun | None) -> HttpResponse:
    """Return the page; the caller has checked access."""
    useful, spent = calibration.usefulness(judge, round_, request.user), cost.money(judge, round_)
    labels = dict(Grade.objects.filter(scale=round_.scale).values_list("value", "label"))
    counted = calibration.outcomes(judge, round_, request.user)
    context = frame(request, round_) | {
        **run_context(run),
        "judge": judge,
        "kin": judge_settings.kin_warning(round_.collection, judge.model, *spent.models),
        "useful": useful,
        "failed": sum(counted.values()) - counted.get("graded", 0),
        "grades": [(value, labels.get(value, ""), number, mean) for value, number, mean in useful.by_grade],
        "top": max(labels, default=0),
        "money": spent,
        "per_thousand": dollars(spent.per_thousand),
        "go_on": go_on_form(run),
    }
    return render(request, "judgments/machines/judge_runs/judge_useful.html", context)
