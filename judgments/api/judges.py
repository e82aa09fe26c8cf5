"""API endpoints for the machine judges of a round: list, start, estimate, pause, resume, routing."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import (
    access,
    audit_slice,
    battle_canaries,
    battle_grades,
    expected_answers,
    judge_names,
    judged,
    judging,
    kinship,
    model_judges,
    prompts_kept,
    routing,
)
from judgments.api.endpoint import InRound, rows_called
from judgments.api.jobs import Started, StartedWith, started
from judgments.api.judge_bodies import (
    DraftSent,
    EstimateBody,
    GoOnSent,
    JudgeBody,
    JudgeSent,
    OneJudgeBody,
    RoutedBody,
    RoutedRound,
)
from judgments.api.machine_runs import names_told, run_told
from judgments.core.errors import NotFound, NotValid
from judgments.judge_choice import Choice
from judgments.models import Judge, JudgeRun

PLAIN = ("model", "examples", "probabilities", "kind", "yes", "text_metric", "temperature", "parameters")


class Judges(InRound):
    """The judges of a round; for leads."""

    serializer_class = JudgeBody
    reads = access.LEADS
    also = (409,)
    tag = "judges"

    @extend_schema(summary="The machine judges of a round", responses={200: JudgeBody(many=True)})
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """With how far each is, what it cost and how its answers ended."""
        rows = [
            told(judge, self.round, request.user) for judge in model_judges.in_round(self.round.collection, self.round)
        ]
        return Response(JudgeBody(rows, many=True).data)

    @extend_schema(
        summary="Set a judge to a round",
        request=JudgeSent,
        responses={200: EstimateBody, 202: StartedWith},
        examples=[
            OpenApiExample(
                "See what it would take",
                {"provider": "<id>", "model": "judge-large", "cap_usd": 5, "dry_run": True},
                request_only=True,
            ),
            OpenApiExample(
                "Words of an expected answer, without any model",
                {"kind": "token_overlap", "expected": {"q1": ["an answer"]}, "parameters": {"min_tokens": 3}},
                request_only=True,
            ),
        ],
    )
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """With `dry_run` what it would take; else a job, which never spends more than its caps."""
        asked = self.sent(JudgeSent)
        choice = self._choice(asked)
        if asked["dry_run"]:
            look = judging.look(self.round, choice, canaries=asked["canaries"]).as_json()
            kin = kinship.kin_in(self.round.collection, *kinship.models_chosen(choice))
            return self.told(EstimateBody, look | {"kin": kin})
        caps = {name: asked[name] for name in ("cap_usd", "cap_calls", "audit_share", "canaries")}
        run = judging.start(self.round, choice, actor=request.user, **caps)
        return started(run.job, run.judge.uuid)

    def _choice(self, asked: dict[str, Any]) -> Choice:
        collection = self.round.collection
        plain = {name: asked[name] for name in PLAIN}
        snapshots, asking = collection.snapshots.all(), prompts_kept.of_kind(asked["kind"])
        prompt = asked["prompt"] or (prompts_kept.USUAL[asking] if asking else "")
        return Choice(
            provider=_called(collection.providers.all(), asked["provider"], "provider"),
            prompt=prompts_kept.find(collection, prompt, asking) if prompt else None,
            snapshot=_called(snapshots, asked["snapshot"], "snapshot"),
            seed=self.round.seed,
            expected=_expected(asked["expected"]),
            judges=rows_called(collection.judges.all(), asked["judges"], "judges", "judge"),
            **plain,
        )


def _called(rows: QuerySet[Any], uuid: uuid_module.UUID | None, noun: str) -> Any:
    """The collection's row with this id; None where none is named."""
    return rows_called(rows, [uuid], noun, noun)[0] if uuid is not None else None


def _expected(sent: Any) -> expected_answers.Expected:
    if isinstance(sent, dict):
        return expected_answers.checked(sent)
    if isinstance(sent, str):
        return expected_answers.read(sent)
    said = "An object of answers by query_id, or CSV as one text."
    raise NotValid("The expected answers cannot be read.", {"expected": said})


class OfJudge(InRound):
    """An address below ``judges/<judge>/``; for leads."""

    judge: Judge
    serializer_class: type[serializers.Serializer] = JudgeBody
    reads = access.LEADS
    also: tuple[int, ...] = (409,)
    tag = "judges"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        judges = model_judges.in_round(self.round.collection, self.round)
        found = next((one for one in judges if one.uuid == kwargs["judge"]), None)
        if found is None:
            raise NotFound("No such judge has been in this round.")
        self.judge = found

    @property
    def run(self) -> JudgeRun:
        found = self.judge.runs.filter(round=self.round).select_related("job", "judge", "round").first()
        if found is None:
            raise NotFound("This judge asks no model in this round.")
        return found


class OneJudge(OfJudge):
    """One judge in a round."""

    serializer_class = OneJudgeBody
    also = ()

    @extend_schema(summary="One machine judge")
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """How far it is, what it cost, how its answers ended, how easily planted text flips it."""
        found = None if judged.has_grades(self.judge) else judged.usefulness(self.judge, self.round, request.user)
        return self.told(OneJudgeBody, told(self.judge, self.round, request.user) | {"usefulness": found})


class PauseJudge(OfJudge):
    """A pause."""

    @extend_schema(summary="Pause a machine judge", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """It stops once the answers in flight are there."""
        judging.pause(self.run, actor=request.user)
        return self.told(JudgeBody, told(self.judge, self.round, request.user))


class GoOnWithJudge(OfJudge):
    """A judge that goes on."""

    serializer_class = Started

    @extend_schema(summary="Go on with a machine judge", request=GoOnSent, responses={202: Started})
    def post(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Asks what has no answer; caps that are left out stay, and count all that was ever spent here."""
        job = judging.go_on(self.run, actor=request.user, **self.sent(GoOnSent)).job
        if job is None:
            raise NotFound("Its job is no more.")
        return started(job)


class Routing(InRound):
    """What machines leave to people; for leads."""

    serializer_class = RoutedBody
    reads = access.LEADS
    also = (409,)
    tag = "judges"

    @extend_schema(summary="What machines leave to people", responses={200: RoutedBody(many=True)})
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """The audit slice, then pairs in doubt. Pairs that you may still grade yourself are left out."""
        return Response(RoutedBody(routing.routed(self.round, request.user), many=True).data)

    @extend_schema(summary="Make a draft round of them", request=DraftSent, responses={201: RoutedRound})
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Raters see nothing of why a pair is there."""
        made = routing.draft_round(self.round, actor=request.user, most=self.sent(DraftSent)["most"])
        return Response({"round": str(made.uuid), "pairs": made.pairs_made}, status=201)


def told(judge: Judge, round_: Any, viewer: Any) -> dict[str, Any]:
    """What the API tells a reader of a judge in a round."""
    run = judge.runs.filter(round=round_).select_related("job", "judge", "round").first()
    drawn = audit_slice.of_judge(judge, round_)
    spent = judged.money(judge, round_)
    names = judge_names.by_name(judge, round_, viewer, spent=spent, over="all" if drawn is None else "slice")
    return {
        "judge": judge,
        "parameters": battle_grades.told_parameters(judge, round_, viewer),
        "says": "grade" if judged.has_grades(judge) else "usefulness",
        **run_told(run),
        "audit_share": drawn.share if drawn else None,
        "outcomes": judged.outcomes(judge, round_, viewer),
        "models_answered": list(spent.models),
        **names_told(names),
        "usd": spent.usd,
        "usd_per_thousand": spent.per_thousand,
        "estimated_usd": spent.estimated,
        "left_out": list(spent.left_out),
        "flips": [one.as_json() for one in _flips(judge, round_, run, viewer)],
    }


def _flips(judge: Judge, round_: Any, run: JudgeRun | None, viewer: Any) -> list[judged.Flip]:
    if run is not None:
        return judged.flips(run, viewer)
    fought = battle_canaries.run_of(judge, round_)
    return battle_canaries.flips_of(fought, viewer) if fought is not None else []
