"""API endpoints for the machine judges of a round: list, start, estimate, pause, resume, routing."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotFound, NotValid
from judgments.jobs.api import Started, StartedWith, started
from judgments.machines.calibration import audit_sample, calibration, model_names, pairwise_judges, routing
from judgments.machines.judge_runs import expected_answers, judge_runs, kinship, model_judges
from judgments.machines.judge_runs.api.serializers import (
    DraftSent,
    EstimateBody,
    GoOnSent,
    JudgeBody,
    JudgeSent,
    OneJudgeBody,
    RoutedBody,
    RoutedRound,
)
from judgments.machines.judge_runs.judge_settings import Choice
from judgments.machines.judge_runs.run_status import name_fields, run_fields
from judgments.machines.prompts import prompts
from judgments.models import Judge, JudgeRun
from judgments.web import access
from judgments.web.endpoints import InRound, rows_called

PLAIN = ("model", "examples", "probabilities", "kind", "yes", "text_metric", "temperature", "parameters")


class Judges(InRound):
    """The judges of a round; for leads."""

    serializer_class = JudgeBody
    reads = access.LEADS
    also = (409,)
    tag = "judges"

    @extend_schema(summary="List the machine judges of a round", responses={200: JudgeBody(many=True)})
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Return each judge with its progress, cost and outcomes."""
        rows = [
            serialize_judge(judge, self.round, request.user)
            for judge in model_judges.in_round(self.round.collection, self.round)
        ]
        return Response(JudgeBody(rows, many=True).data)

    @extend_schema(
        summary="Start a machine judge",
        request=JudgeSent,
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
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """With `dry_run`, return the estimate; otherwise start a job that stays within its caps."""
        body = self.read_body(JudgeSent)
        choice = self._choice(body)
        if body["dry_run"]:
            look = judge_runs.estimate_run(self.round, choice, canaries=body["canaries"]).as_json()
            kin = kinship.kin_in(self.round.collection, *kinship.models_chosen(choice))
            return self.respond(EstimateBody, look | {"kin": kin})
        caps = {name: body[name] for name in ("cap_usd", "cap_calls", "audit_share", "canaries")}
        run = judge_runs.start(self.round, choice, actor=request.user, **caps)
        return started(run.job, run.judge.uuid)

    def _choice(self, body: dict[str, Any]) -> Choice:
        collection = self.round.collection
        plain = {name: body[name] for name in PLAIN}
        snapshots, asking = collection.snapshots.all(), prompts.of_kind(body["kind"])
        prompt = body["prompt"] or (prompts.USUAL[asking] if asking else "")
        return Choice(
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
        run = self.judge.runs.filter(round=self.round).select_related("job", "judge", "round").first()
        if run is None:
            raise NotFound("This judge calls no model in this round.")
        return run


class OneJudge(OfJudge):
    """One judge in a round."""

    serializer_class = OneJudgeBody
    also = ()

    @extend_schema(summary="Get a machine judge")
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Return its progress, cost, outcomes, and the results of prompt-injection probes."""
        usefulness = (
            None if calibration.has_grades(self.judge) else calibration.usefulness(self.judge, self.round, request.user)
        )
        return self.respond(
            OneJudgeBody, serialize_judge(self.judge, self.round, request.user) | {"usefulness": usefulness}
        )


class PauseJudge(OfJudge):
    """A pause."""

    @extend_schema(summary="Pause a machine judge", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """The job stops after the calls in progress have returned."""
        judge_runs.pause(self.run, actor=request.user)
        return self.respond(JudgeBody, serialize_judge(self.judge, self.round, request.user))


class GoOnWithJudge(OfJudge):
    """A resumed judge."""

    serializer_class = Started

    @extend_schema(summary="Resume a machine judge", request=GoOnSent, responses={202: Started})
    def post(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Send the unanswered pairs. Omitted caps stay as they are; caps apply to everything this judge has spent in
        the round."""
        job = judge_runs.resume(self.run, actor=request.user, **self.read_body(GoOnSent)).job
        if job is None:
            raise NotFound("Its job was deleted.")
        return started(job)


class Routing(InRound):
    """The pairs that machines leave to people; for leads."""

    serializer_class = RoutedBody
    reads = access.LEADS
    also = (409,)
    tag = "judges"

    @extend_schema(summary="List the pairs that machines leave to people", responses={200: RoutedBody(many=True)})
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Return the audit slice, then uncertain pairs, without pairs that you may still grade."""
        return Response(RoutedBody(routing.routed(self.round, request.user), many=True).data)

    @extend_schema(summary="Create a draft round of these pairs", request=DraftSent, responses={201: RoutedRound})
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Raters do not see why a pair was chosen."""
        made = routing.draft_round(self.round, actor=request.user, most=self.read_body(DraftSent)["most"])
        return Response({"round": str(made.uuid), "pairs": made.pairs_made}, status=201)


def serialize_judge(judge: Judge, round_: Any, viewer: Any) -> dict[str, Any]:
    """Return the API body of a judge in a round."""
    run = judge.runs.filter(round=round_).select_related("job", "judge", "round").first()
    drawn = audit_sample.of_judge(judge, round_)
    spent = calibration.money(judge, round_)
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
