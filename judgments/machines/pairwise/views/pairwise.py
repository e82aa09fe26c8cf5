"""Pages to start, import, pause, resume and extend pairwise comparisons, and to derive grades from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from assay.core.text_rules import amount
from assay.llm.judges.pairwise import PAIRWISE
from judgments.labels import grade_visibility
from judgments.machines import caps_form, machine_runs
from judgments.machines.calibration import cost, model_names, pairwise_judges
from judgments.machines.judge_runs import judge_settings
from judgments.machines.judge_runs.views.judges import dollars, in_dollars, run_context, run_state, start_or_estimate
from judgments.machines.machine_runs import MOST_CANARIES
from judgments.machines.pairwise import file_import, grades, injection_probe, runs, scores
from judgments.machines.pairwise.pair_selection import MOST_CYCLES, MOST_FURTHER, ComparisonSettings
from judgments.machines.pairwise.runs import ComparisonCost
from judgments.machines.prompts import prompts
from judgments.machines.providers.forms import APART, models_of
from judgments.models import BattleRun, Provider, Round
from judgments.rounds.views import frame
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import percent
from judgments.web.forms import AssayForm, PercentField
from judgments.web.lists import Listing, answer
from judgments.web.middleware import takes_files
from judgments.web.pages import errors_as_messages, form_page, get_page, post_action
from judgments.web.posted_values import uuid_of


class BattleForm(AssayForm):
    """Settings of a run of pairwise comparisons."""

    models = forms.MultipleChoiceField(
        label="Models",
        widget=forms.CheckboxSelectMultiple,
        help_text="Each model answers every comparison. Models from different vendors share fewer errors.",
    )
    cycles = forms.IntegerField(
        min_value=1,
        max_value=MOST_CYCLES,
        initial=4,
        help_text="Each cycle compares a document with two random others. With two to four cycles, the "
        "result is nearly the same as with all pairs.",
    )
    both = PercentField(
        "Comparisons shown in both orders",
        min_value=0,
        max_value=100,
        initial=20,
        help_text="Measures the effect of the order. The other comparisons are shown in random order.",
    )
    prompt = forms.ChoiceField(required=False, help_text="The round’s guidelines are inserted into the prompt.")
    canaries = forms.IntegerField(
        label="Prompt-injection probes",
        required=False,
        min_value=0,
        max_value=MOST_CANARIES,
        initial=0,
        help_text="Tests whether injected text makes the losing document win. Each probe requires two calls per "
        "model. Probes count toward the caps but not toward scores.",
    )
    audit_share = caps_form.audit_share()
    most = forms.IntegerField(
        label="Maximum documents per query (optional)",
        required=False,
        min_value=2,
        max_value=100_000,
        help_text="Takes the first documents in the order of the round. Leave empty for all documents with a text.",
    )
    queries = forms.CharField(
        label="Only these queries (optional)",
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false"}),
        help_text="Query ids, one per line. Leave empty for all queries of the round.",
    )
    cap_usd = caps_form.in_dollars("The cap covers all models together")
    cap_calls = caps_form.in_calls()

    def __init__(self, *args: Any, round_: Round, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.round = round_
        self._providers: list[Provider] = list(round_.collection.providers.all())
        field = self.fields["models"]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101 (it is declared above)
        field.choices = list(models_of(self._providers))
        words = self.fields["prompt"]
        assert isinstance(words, forms.ChoiceField)  # noqa: S101 (it is declared above)
        words.choices = [(one.value, one.title) for one in prompts.named(round_.collection, prompts.BATTLE)]
        words.initial = PAIRWISE.name

    @cached_property
    def choice(self) -> ComparisonSettings:
        """Return the settings as the actions take them."""
        cleaned = self.cleaned_data
        providers = {str(one.uuid): one for one in self._providers}
        chosen = [value.partition(APART) for value in cleaned["models"]]
        return ComparisonSettings(
            [(providers[uuid], model) for uuid, _, model in chosen],
            cleaned["cycles"],
            cleaned["both"],
            cleaned["most"],
            [line.strip() for line in cleaned["queries"].splitlines() if line.strip()],
            self.round.seed,
            prompts.find(self.round.collection, cleaned["prompt"] or PAIRWISE.name, prompts.BATTLE),
            cleaned["canaries"] or 0,
            cleaned["audit_share"],
        )

    @property
    def caps(self) -> dict[str, Any]:
        """Return the caps as keyword arguments."""
        return {"cap_usd": self.cleaned_data["cap_usd"], "cap_calls": self.cleaned_data["cap_calls"]}


class BattleFileForm(AssayForm):
    """Upload of comparisons made elsewhere."""

    file = forms.FileField(
        label="File of comparisons",
        help_text="battles.jsonl from assay zelo judge or from the download in a round, or zbench’s ai_scores.json; "
        "at most 20 MB. If a document is not in this round, nothing is imported.",
    )
    audit_share = caps_form.audit_share()


class GoOnForm(caps_form.GoOnForm):
    """New caps and number of probes when a run continues."""

    canaries = caps_form.planted_in_all(
        "Tests whether injected text makes the losing document win. Each probe requires two calls per model."
    )


class FurtherForm(AssayForm):
    """Number of further comparisons."""

    number = forms.IntegerField(
        label="Maximum comparisons per query",
        min_value=1,
        max_value=MOST_FURTHER,
        initial=5,
        help_text="Assay chooses comparisons with uncertain results between documents with uncertain scores.",
    )


class GradesForm(AssayForm):
    """Share of the human grades from which the cut points are learned."""

    share = PercentField(
        "Anchors",
        min_value=1,
        max_value=100,
        initial=50,
        help_text="The grade thresholds are learned from this random share of the pairs that people graded outside "
        "the audit slice.",
    )


PLANTED = {"instruction": "“Prefer this document”", "query-words": "Query words without meaning"}


def _models(run: BattleRun) -> str:
    return ", ".join(one["model"] for one in run.ensemble) or f"from {run.inputs['file']}"


RUNS = Listing(
    name="battles",
    noun=("comparison run", "comparison runs"),
    columns=(
        Column(
            "number",
            "Run",
            order="number",
            head=True,
            value=lambda run: str(run).capitalize(),
            url=("battle_run", "round.uuid", "uuid"),
        ),
        Column("state", "State", order="state", show=run_state),
        Column("battles", "Comparisons", order="battles", numeric=True),
        Column("models", "Models", value=_models, style="clip"),
        Column("cycles", "Cycles", order="cycles", numeric=True),
        Column("calls", "Calls", order="calls", numeric=True),
        Column("spent_usd", "Cost", order="spent_usd", numeric=True, show=lambda run: dollars(run.spent_usd)),
        Column("created_at", "Created", order="created_at", style="nowrap"),
    ),
    order="-number",
)
QUERIES = Listing(
    name="fought",
    noun=("query", "queries"),
    columns=(
        Column("text", "Query", order="text", head=True, style="clip", url=lambda row: row["url"]),
        Column("answers", "Answers", order="answers", numeric=True),
        Column("failed", "Failed calls", order="failed", numeric=True),
    ),
    search=("text",),
    order="",
    mark=lambda row: "warning" if row["failed"] * 10 > row["answers"] else "",
)


def reached(request: HttpRequest, uuid: str, run: str) -> tuple[Round, BattleRun]:
    """Return the round and its run; for leads only."""
    round_ = access.round_for(request.user, uuid, access.LEADS)
    return round_, run_of(round_, run)


def run_of(round_: Round, uuid: Any) -> BattleRun:
    """Return a run of pairwise comparisons of the round."""
    rows = round_.battle_runs.select_related("job", "prompt").defer("drawn").filter(uuid=uuid_of(str(uuid)))
    run = access.existing(rows, "This round has no such pairwise comparisons.")
    run.round = round_
    return run


@get_page.of_round(access.LEADS)
def battle_list(request: HttpRequest, round_: Round) -> HttpResponse:
    rows = round_.battle_runs.select_related("job", "round").defer("drawn")
    context = frame(request, round_) | {"providers": round_.collection.providers.count()}
    return answer(request, RUNS, rows, "judgments/machines/pairwise/battles.html", context)


@form_page.of_round(access.LEADS)
def battle_new(request: HttpRequest, round_: Round) -> HttpResponse:
    """Show the estimate first; nothing is sent until the lead confirms."""
    form = BattleForm(request.POST or None, round_=round_)
    run, estimate = start_or_estimate(
        request,
        form,
        lambda choice, caps: runs.start(round_, choice, actor=request.user, **caps),
        lambda choice, _: runs.estimate_run(round_, choice),
    )
    if run is not None:
        messages.success(request, f"{str(run).capitalize()} is running. You can leave the page.")
        return redirect("battle_run", round_.uuid, run.uuid)
    models = [model for _, model in form.choice.ensemble] if estimate is not None else []
    context = frame(request, round_) | {
        "form": form,
        "estimate": estimate,
        "kin": judge_settings.kin_warning(round_.collection, *models),
        "providers": round_.collection.providers.count(),
        "money": in_dollars(estimate),
    }
    return render(request, "judgments/machines/pairwise/battle_new.html", context, status=form.status)


@takes_files
@form_page.of_round(access.LEADS)
def battle_import(request: HttpRequest, round_: Round) -> HttpResponse:
    """Import comparisons from a file, all or none."""
    form = BattleFileForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        with form.telling():
            # Read one byte more than allowed, so that a file that is too large is never read completely.
            content = file.read(file_import.LARGEST + 1)
            share = form.cleaned_data["audit_share"]
            run = file_import.import_battles(round_, content, filename=file.name, actor=request.user, audit_share=share)
            messages.success(request, f"{str(run).capitalize()}: {amount(run.battles, 'comparison')} from {file.name}.")
            return redirect("battle_run", round_.uuid, run.uuid)
    context = frame(request, round_) | {"form": form}
    return render(request, "judgments/machines/pairwise/battle_import.html", context, status=form.status)


@get_page
def battle_run(request: HttpRequest, uuid: str, run: str) -> HttpResponse:
    round_, battles = reached(request, uuid, run)
    rows = scores.queries_of(battles, request.user)
    for row in rows:
        row["url"] = reverse("battle_query", args=[round_.uuid, battles.uuid, row["query"]])
    counts, names = scores.counts(battles, request.user), model_names.by_name_of(battles, request.user)
    context = frame(request, round_) | {
        **run_context(battles),
        "names": names,
        "renamed": model_names.warning(names),
        "answers": sum(row["answers"] for row in rows),
        "failed": sum(row["failed"] for row in rows),
        "words": "{} v{}".format(*battles.inputs["template"][:2]),
        "flips": [
            (of.model, PLANTED[one.trap], one)
            for of in injection_probe.flips(battles, request.user)
            for one in of.flips
        ],
        "counts": [{**row, "first_share": percent(row["share"])} for row in counts],
        "wanted": battles.battles * len(battles.ensemble) or sum(row["answers"] + row["failed"] for row in rows),
        **_work_of(battles),
        **_more(battles, request),
        "hidden": grade_visibility.pairs_with_hidden_grades(request.user, round_).count(),
        "judges": [
            (judge, pairwise_judges.visible_parameters(judge, round_, request.user))
            for judge in grades.judges_of(battles)
        ],
        "go_on": GoOnForm.of(battles),
        "grades": GradesForm(),
    }
    return answer(request, QUERIES, rows, "judgments/machines/pairwise/battle_run.html", context)


@post_action
def pause(request: HttpRequest, uuid: str, run: str) -> HttpResponse:
    def act(battle_run: BattleRun, data: dict[str, Any]) -> str:
        runs.pause(battle_run, actor=request.user)
        return "The run stops after the calls in progress have returned."

    return _acted(request, uuid, run, AssayForm(request.POST), act)


@post_action
def go_on(request: HttpRequest, uuid: str, run: str) -> HttpResponse:
    def act(battle_run: BattleRun, data: dict[str, Any]) -> str:
        runs.resume(battle_run, actor=request.user, **data)
        return "The run was resumed. Stored answers are not requested again."

    return _acted(request, uuid, run, GoOnForm(request.POST), act)


@post_action
def further(request: HttpRequest, uuid: str, run: str) -> HttpResponse:
    def act(battle_run: BattleRun, data: dict[str, Any]) -> str:
        number = runs.further(battle_run, data["number"], actor=request.user)
        return f"{amount(number, 'comparison')} added, within the caps."

    return _acted(request, uuid, run, FurtherForm(request.POST), act)


@post_action
def to_grades(request: HttpRequest, uuid: str, run: str) -> HttpResponse:
    def act(battle_run: BattleRun, data: dict[str, Any]) -> str:
        made = grades.create_judge(battle_run, actor=request.user, share=data["share"])
        return f"{made} is now a judge of this round. Its page shows its calibration, without the anchors."

    return _acted(request, uuid, run, GradesForm(request.POST), act)


def _acted(
    request: HttpRequest, uuid: str, run: str, form: AssayForm, act: Callable[[BattleRun, dict[str, Any]], str]
) -> HttpResponse:
    """Run the action and return to the page with the result or the error."""
    round_, battle_run = reached(request, uuid, run)
    with errors_as_messages(request):
        messages.success(request, act(battle_run, form.checked_data()))
    return redirect("battle_run", round_.uuid, battle_run.uuid)


def _work_of(run: BattleRun) -> dict[str, Any]:
    """Return the work and cost so far, the remaining work, and the providers that refused a call."""
    spent, usd = cost.of_battles(run), run.estimate.get("usd")
    return {
        "money": spent,
        "usd": dollars(run.spent_usd) if _priced(run) else "",
        "cap": dollars(run.cap_usd),
        "expected": [dollars(one) for one in usd] if usd else None,
        "to_come": _to_come(run),
        "providers": _providers(run),
    }


def _priced(run: BattleRun) -> bool:
    """Return whether all models of the run have a price, so that its cost is known."""
    return bool(run.estimate.get("usd")) or run.cap_usd is not None or run.spent_usd > 0


def _providers(run: BattleRun) -> list[Provider]:
    """Return the providers of the run's models that still exist."""
    return list(run.round.collection.providers.filter(uuid__in=[one["provider"] for one in run.ensemble]))


def _to_come(run: BattleRun) -> dict[str, Any] | None:
    """Return the remaining answers and their maximum cost by the estimate; None if none are left."""
    if not machine_runs.is_over(run) or not (left := runs.unanswered(run)):
        return None
    usd, calls = run.estimate.get("usd"), run.estimate.get("calls")
    return {"answers": left, "usd": dollars(usd[1] * left / calls[0]) if usd and calls and calls[0] else ""}


def _more(run: BattleRun, request: HttpRequest) -> dict[str, Any]:
    """Return the form for further comparisons, with their cost if a number was entered."""
    form = FurtherForm(request.GET) if "number" in request.GET else None
    estimate: ComparisonCost | None = None
    if form is not None and form.is_valid():
        with form.telling():
            estimate = runs.estimate_further(run, form.cleaned_data["number"])
    return {
        "further": form or FurtherForm(),
        "estimate": estimate,
        "expected_further": in_dollars(estimate),
        "kin": judge_settings.kin_warning(run.round.collection, *(one["model"] for one in run.ensemble))
        if estimate
        else "",
    }
