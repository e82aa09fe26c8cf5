"""API endpoints for the machine judges of a round: runs, answers, calibration, auto-accept, call log and routing."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import Conflict, NotFound, NotValid
from judgments.jobs.api import Started, StartedWith, started
from judgments.labels import grade_visibility
from judgments.machines.calibration import (
    audit_sample,
    auto_accept,
    calibration,
    cost,
    model_names,
    pairwise_judges,
    routing,
)
from judgments.machines.judge_runs import expected_answers, judge_runs, judge_settings, labels_export, model_judges
from judgments.machines.judge_runs.judge_settings import JudgeSettings
from judgments.machines.judge_runs.serializers import (
    AnswerBody,
    CallCostBody,
    DraftSent,
    EstimateBody,
    GoOnSent,
    HeldBody,
    JudgeBody,
    JudgeSent,
    OneJudgeBody,
    RoutedBody,
    RoutedRound,
    name_fields,
    run_fields,
)
from judgments.machines.prompts import prompts
from judgments.models import AutoAccept, Judge, JudgeRun, MachineJudgment, ModelCall
from judgments.models.machines.machine import OUTCOMES
from judgments.web import access
from judgments.web.api_lists import ListedAsArray
from judgments.web.downloads import streamed
from judgments.web.endpoints import AnyAccept, InRound, Listed, call, listed, rows_called
from judgments.web.lists import on_record
from judgments.web.serializers import Strict

PLAIN = ("model", "examples", "probabilities", "kind", "yes", "text_metric", "temperature", "parameters")


@listed("List the machine judges of a round", "Return each judge with its progress, cost and outcomes.")
class Judges(ListedAsArray, InRound):
    """The judges of a round; for leads."""

    serializer_class = JudgeBody
    ordering = {"name": "judge.name", "kind": "judge.kind"}
    reads = access.LEADS
    also = (409,)
    tag = "judges"

    def rows(self) -> list[dict[str, Any]]:
        judges = model_judges.in_round(self.round.collection, self.round)
        return [serialize_judge(judge, self.round, self.user) for judge in judges]

    @call(
        "Start a machine judge",
        body=JudgeSent,
        responses={200: EstimateBody, 202: StartedWith},
        examples=[
            OpenApiExample(
                "Estimate the cost",
                {"provider": "<id>", "model": "judge-large", "cap_usd": 5, "dry_run": True},
                request_only=True,
            ),
            OpenApiExample(
                "Compare with an expected answer, without a model",
                {"kind": "token_overlap", "expected": {"q1": ["an answer"]}, "parameters": {"min_tokens": 3}},
                request_only=True,
            ),
        ],
    )
    def post(self, body: dict[str, Any]) -> Response:
        """With `dry_run`, return the estimate; otherwise start a job that stays within its caps."""
        choice = self._choice(body)
        if body["dry_run"]:
            look = judge_runs.estimate_run(self.round, choice, canaries=body["canaries"]).as_json()
            kin = judge_settings.kin_in(self.round.collection, *judge_settings.models_chosen(choice))
            return self.respond(EstimateBody, look | {"kin": kin})
        caps = {name: body[name] for name in ("cap_usd", "cap_calls", "audit_share", "canaries")}
        run = judge_runs.start(self.round, choice, actor=self.user, **caps)
        return started(run.job, run.judge.uuid)

    def _choice(self, body: dict[str, Any]) -> JudgeSettings:
        collection = self.round.collection
        plain = {name: body[name] for name in PLAIN}
        snapshots, asking = collection.snapshots.all(), prompts.of_kind(body["kind"])
        prompt = body["prompt"] or (prompts.USUAL[asking] if asking else "")
        return JudgeSettings(
            provider=_called(collection.providers.all(), body["provider"], "provider"),
            prompt=prompts.find(collection, prompt, asking) if prompt else None,
            snapshot=_called(snapshots, body["snapshot"], "snapshot"),
            seed=self.round.seed,
            expected=_expected(body["expected"]),
            judges=rows_called(collection.judges.all(), body["judges"], "judges", "judge"),
            **plain,
        )


def _called(rows: QuerySet[Any], uuid: uuid_module.UUID | None, noun: str) -> Any:
    """Return the collection's row with this id; None without an id."""
    return rows_called(rows, [uuid], noun, noun)[0] if uuid is not None else None


def _expected(content: Any) -> expected_answers.Expected:
    if isinstance(content, dict):
        return expected_answers.checked(content)
    if isinstance(content, str):
        return expected_answers.read(content)
    message = "Send an object of answers by query_id, or CSV as one string."
    raise NotValid("The expected answers cannot be read.", {"expected": message})


class OfJudge(InRound):
    """Base class of endpoints below ``judges/<judge>/``, which are for leads."""

    judge: Judge
    serializer_class: type[serializers.Serializer] = JudgeBody
    reads = access.LEADS
    also: tuple[int, ...] = (409,)
    tag = "judges"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        judges = model_judges.in_round(self.round.collection, self.round)
        judge = next((one for one in judges if one.uuid == kwargs["judge"]), None)
        if judge is None:
            raise NotFound("This round has no such judge.")
        self.judge = judge

    @property
    def run(self) -> JudgeRun:
        runs = self.judge.runs.filter(round=self.round).select_related("job", "judge", "round")
        return access.existing(runs, "This judge calls no model in this round.")


class OneJudge(OfJudge):
    also = ()

    @call("Get a machine judge", OneJudgeBody)
    def get(self) -> Any:
        """Return its progress, cost, outcomes, and the results of prompt-injection probes."""
        usefulness = (
            None if calibration.has_grades(self.judge) else calibration.usefulness(self.judge, self.round, self.user)
        )
        return serialize_judge(self.judge, self.round, self.user) | {"usefulness": usefulness}


class PauseJudge(OfJudge):
    @call("Pause a machine judge", JudgeBody)
    def post(self) -> Any:
        """The job stops after the calls in progress have returned."""
        judge_runs.pause(self.run, actor=self.user)
        return serialize_judge(self.judge, self.round, self.user)


class GoOnWithJudge(OfJudge):
    @call("Resume a machine judge", body=GoOnSent, responses={202: Started})
    def post(self, body: dict[str, Any]) -> Response:
        """Send the unanswered pairs. Omitted caps do not change. Caps apply to everything this judge has spent in
        the round."""
        job = judge_runs.resume(self.run, actor=self.user, **body).job
        if job is None:
            raise NotFound("The job of this judge was deleted, so the judge cannot be resumed.")
        return started(job)


@listed(
    "List the pairs that people should judge",
    "Return the audit slice, then uncertain pairs, without pairs that you may still grade.",
)
class Routing(ListedAsArray, InRound):
    """The pairs that people should judge after the machines; for leads."""

    serializer_class = RoutedBody
    ordering = {"doubt": "doubt", "graded": "graded", "leverage": "leverage"}
    reads = access.LEADS
    also = (409,)
    tag = "judges"

    def rows(self) -> list[Any]:
        return routing.routed(self.round, self.user)

    @call("Create a draft round of the pairs that people should judge", body=DraftSent, responses={201: RoutedRound})
    def post(self, body: dict[str, Any]) -> Response:
        """Raters do not see why a pair was chosen."""
        made = routing.draft_round(self.round, actor=self.user, most=body["most"])
        return Response({"round": str(made.uuid), "pairs": made.pairs_made}, status=201)


def serialize_judge(judge: Judge, round_: Any, viewer: Any) -> dict[str, Any]:
    """Return the API body of a judge in a round."""
    run = judge.runs.filter(round=round_).select_related("job", "judge", "round").first()
    drawn = audit_sample.of_judge(judge, round_)
    spent = cost.money(judge, round_)
    names = model_names.by_name(judge, round_, viewer, spent=spent, over="all" if drawn is None else "slice")
    return {
        "judge": judge,
        "parameters": pairwise_judges.visible_parameters(judge, round_, viewer),
        "says": "grade" if calibration.has_grades(judge) else "usefulness",
        **run_fields(run),
        "audit_share": drawn.share if drawn else None,
        "outcomes": calibration.outcomes(judge, round_, viewer),
        "models_answered": list(spent.models),
        **name_fields(names),
        "usd": spent.usd,
        "usd_per_thousand": spent.per_thousand,
        "estimated_usd": spent.estimated,
        "left_out": list(spent.left_out),
        "flips": [one.as_json() for one in _flips(judge, round_, run, viewer)],
    }


def _flips(judge: Judge, round_: Any, run: JudgeRun | None, viewer: Any) -> list[calibration.Flip]:
    if run is not None:
        return calibration.flips(run, viewer)
    fought = pairwise_judges.run_of(judge, round_)
    return pairwise_judges.flips_of(fought, viewer) if fought is not None else []


@listed(
    "List a judge's answers",
    "Return answers in order of arrival, without pairs that you may still grade.",
)
class AnswersOfJudge(Listed, OfJudge):
    """The answers of a judge."""

    serializer_class = AnswerBody
    filters = {"outcome": "outcome"}
    ordering = {"created_at": "created_at", "outcome": "outcome", "grade": "grade"}
    also = ()
    queryset = MachineJudgment.objects.none()

    def rows(self) -> Any:
        rows = self.judge.judgments.filter(pair__round=self.round)
        rows = grade_visibility.without_hidden(rows, self.request.user, self.round)
        return rows.select_related("pair__query", "pair__document").order_by("pair__position")


class LabelsOfJudge(AnyAccept, OfJudge):
    also = ()

    @call("Download a judge's labels", responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def get(self) -> StreamingHttpResponse:
        """Return labels.jsonl. The status is 403 while you may still grade a pair. Pairs without a decision have no
        line."""
        lines = labels_export.lines(self.judge, self.round, self.user)
        on_record(self.request, f"the labels of {self.judge.name} in {self.round}", self.round.collection)
        return streamed(f"{self.round.name}-{self.judge.name}.jsonl", lines, "application/octet-stream")


class HeldAgainstPeople(OfJudge):
    also = ()

    @call(
        "Get the calibration of a judge",
        parameters=[
            OpenApiParameter(
                "over", str, enum=["slice", "all"], description="The pairs to compare; by default `slice`."
            )
        ],
        responses=HeldBody,
    )
    def get(self) -> Response:
        """Return kappa, alpha, the confusion matrix and the mean human grade per machine grade."""
        over: Any = self.request.query_params.get("over") or "slice"
        held = calibration.calibrate(self.judge, self.round, self.user, over=over)
        plain = {name: getattr(held, name) for name in ("over", "slice_size", "slice_graded", "hidden", "passed")}
        return Response({**plain, "calibrated": held.calibrated.as_json()})


class BoundSent(Strict):
    """The condition for accepting the lowest grade."""

    bound = serializers.FloatField(
        min_value=0.5,
        max_value=0.999,
        help_text="The minimum share of pairs with this grade that must be not relevant, such as 0.95.",
    )


class ConfirmedBody(serializers.Serializer):
    """Human judgments of pairs with the judge's lowest grade."""

    population = serializers.IntegerField(help_text="Number of pairs of the round with this grade.")
    sampled = serializers.IntegerField(help_text="Number of these pairs in the audit slice.")
    judged = serializers.IntegerField(help_text="Number of sampled pairs that people have judged.")
    right = serializers.IntegerField(help_text="Number of judged pairs that people found not relevant.")
    low = serializers.FloatField(
        allow_null=True, help_text="Lower bound of the share of pairs outside the audit slice that are not relevant."
    )


class AcceptBody(serializers.Serializer):
    """Whether the lowest grade is accepted now."""

    asked = serializers.BooleanField(help_text="Whether a lead has turned on auto-accept.")
    bound = serializers.FloatField(allow_null=True)
    asked_at = serializers.DateTimeField(allow_null=True)
    stands = serializers.BooleanField()
    why = serializers.CharField()
    confirmed = ConfirmedBody(
        allow_null=True, help_text="Null if auto-accept is off, or while you may still grade pairs of the round."
    )


class Accept(OfJudge):
    @call("Get the state of auto-accept", responses=AcceptBody)
    def get(self) -> Response:
        """The state is computed at each request."""
        return self._respond_status(self._active_accept())

    @call("Auto-accept a judge's lowest grade", body=BoundSent, responses={201: AcceptBody})
    def post(self, body: dict[str, Any]) -> Response:
        """Auto-accept is in effect while people confirm the grade on the audit slice. A 400 response explains why it
        is not."""
        bound = body["bound"]
        return self._respond_status(auto_accept.activate(self.round, self.judge, bound=bound, actor=self.user), 201)

    @call("Turn off auto-accept", responses={200: AcceptBody})
    def delete(self) -> Response:
        """Snapshots that contain accepted grades do not change."""
        accept = self._active_accept()
        if accept is None:
            raise Conflict("Auto-accept is off for this judge, so it cannot be turned off.")
        auto_accept.deactivate(accept, actor=self.user)
        return self._respond_status(None)

    def _active_accept(self) -> AutoAccept | None:
        accept = auto_accept.active_accept(self.round)
        return accept if accept is not None and accept.judge_id == self.judge.pk else None

    def _respond_status(self, accept: AutoAccept | None, status: int = 200) -> Response:
        if accept is None:
            why = "Auto-accept is off. People must judge all pairs of this judge."
            nothing: dict[str, Any] = {"bound": None, "asked_at": None, "confirmed": None}
            return self.respond(AcceptBody, {"asked": False, "stands": False, "why": why, **nothing}, status)
        acceptance = auto_accept.visible_status(self.request.user, self.round, auto_accept.status_of(accept))
        plain = {
            "bound": accept.bound,
            "asked_at": accept.created_at,
            "stands": acceptance.stands,
            "why": acceptance.why,
        }
        return self.respond(AcceptBody, {"asked": True, **plain, "confirmed": acceptance.confirmed}, status)


class DraftWithout(OfJudge):
    @call("Create a draft round without accepted pairs", responses={201: RoutedRound})
    def post(self) -> Response:
        """The round has the unjudged pairs without an accepted grade, and the rest of the audit slice."""
        accept = auto_accept.active_accept(self.round)
        if accept is None or accept.judge_id != self.judge.pk:
            raise Conflict("No grade of this judge is accepted in the round, so no pair can be left out.")
        made = auto_accept.draft_round(self.round, actor=self.user)
        return Response({"round": str(made.uuid), "pairs": made.pairs_made}, status=201)


class CallBody(CallCostBody):
    """One call. No field contains the provider's key; the answer is plain text."""

    at = serializers.DateTimeField()
    purpose = serializers.ChoiceField(choices=ModelCall.Purpose.choices)
    trap = serializers.CharField(help_text="The prompt-injection probe in the document; empty if there is none.")
    query_id = serializers.CharField(source="pair.query.query_id")
    doc_id = serializers.CharField(source="pair.document.doc_id")
    outcome = serializers.ChoiceField(choices=OUTCOMES)
    grade = serializers.IntegerField(allow_null=True)
    probabilities = serializers.JSONField(allow_null=True)
    rationale = serializers.CharField()
    raw = serializers.CharField(help_text="The unmodified answer of the model.")
    model_asked = serializers.CharField(source="requested_model")
    model_answered = serializers.CharField()
    parameters = serializers.JSONField()
    seconds = serializers.FloatField()
    question_sha256 = serializers.CharField(source="key", help_text="Hash of everything that determines the answer.")
    prompt_sha256 = serializers.CharField()


@listed(
    "List the calls of a judge",
    "Return the calls, oldest first, without pairs that you may still grade.",
)
class LedgerOfJudge(Listed, OfJudge):
    """The calls of a judge in a round."""

    serializer_class = CallBody
    filters = {"outcome": "outcome", "purpose": "purpose"}
    ordering = {"at": "at", "outcome": "outcome", "grade": "grade", "cost_usd": "cost_usd"}
    also = ()
    queryset = ModelCall.objects.none()

    def rows(self) -> Any:
        rows = ModelCall.objects.filter(judge=self.judge, run__round=self.round)
        rows = grade_visibility.without_hidden(rows, self.request.user, self.round)
        return rows.select_related("pair__query", "pair__document").order_by("pk")
