"""API endpoints for the pairwise comparisons of a round: start, import, estimate, pause, scores and grades."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from judgments import (
    access,
    battle_files,
    battle_grades,
    battle_scores,
    battling,
    kinship,
    prompts_kept,
)
from judgments.api.battle_bodies import (
    BattleBody,
    BattleRunBody,
    BattlesEstimate,
    BattlesGoOn,
    BattlesSent,
    BattlesTaken,
    CanaryBody,
    FurtherSent,
    GradesMade,
    GradesSent,
    ScoreBody,
)
from judgments.api.battle_told import told
from judgments.api.endpoint import InRound
from judgments.api.jobs import Started, StartedWith, started
from judgments.api.posted import json_lines
from judgments.battle_draws import Choice
from judgments.core.errors import NotFound, NotValid
from judgments.models import Battle, BattleCanary, BattleRun, Provider, Query


class BattleRuns(InRound):
    """The battles of a round; for leads."""

    serializer_class = BattleRunBody
    reads = access.LEADS
    also = (409,)
    tag = "battles"

    @extend_schema(summary="The battles of a round", responses={200: BattleRunBody(many=True)})
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """The newest first, with how far each is and what it cost."""
        rows = self.round.battle_runs.select_related("job", "prompt").defer("drawn")
        return Response(BattleRunBody([told(run, request.user) for run in rows], many=True).data)

    @extend_schema(
        summary="Have documents meet, two at a time",
        request=BattlesSent,
        responses={200: BattlesEstimate, 202: StartedWith},
        examples=[
            OpenApiExample(
                "See what it would take",
                {"models": [{"provider": "<id>", "model": "judge-large"}], "cap_usd": 5, "dry_run": True},
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """With `dry_run` what they would take; else a job. It never spends more than its caps."""
        asked = self.sent(BattlesSent)
        choice = self._choice(asked)
        if asked["dry_run"]:
            kin = kinship.kin_in(self.round.collection, *(model for _, model in choice.ensemble))
            return self.told(BattlesEstimate, battling.look(self.round, choice).as_json() | {"kin": kin})
        caps = {name: asked[name] for name in ("cap_usd", "cap_calls")}
        run = battling.start(self.round, choice, actor=request.user, **caps)
        return started(run.job, run.uuid)

    def _choice(self, asked: dict[str, Any]) -> Choice:
        providers = {one.uuid: one for one in self.round.collection.providers.all()}
        found: list[tuple[Provider, str]] = []
        for member in asked["models"]:
            if member["provider"] not in providers:
                said = f"This collection has no provider {member['provider']}."
                raise NotValid(said, {"models": said})
            found.append((providers[member["provider"]], member["model"]))
        seed = self.round.seed if asked["seed"] is None else asked["seed"]
        prompt = prompts_kept.find(self.round.collection, asked["prompt"], prompts_kept.BATTLE)
        plain = {name: asked[name] for name in ("cycles", "both", "most", "queries", "canaries", "audit_share")}
        return Choice(found, seed=seed, prompt=prompt, **plain)


class ImportBattles(InRound):
    """Battles from elsewhere; for leads."""

    serializer_class = BattleRunBody
    tag = "battles"

    @extend_schema(summary="Take in battles that were fought", request=BattlesTaken, responses={201: BattleRunBody})
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """All of them or none. No model is asked; scores, grades and doubts come of them as of any other."""
        sent = self.sent(BattlesTaken)
        content = json_lines("battles-jsonl", sent["battles"]).content
        share = sent["audit_share"]
        run = battle_files.take_in(self.round, content, filename="battles", actor=request.user, audit_share=share)
        return self.told(BattleRunBody, told(run, request.user), status=201)


class OfBattles(InRound):
    """An address below ``battles/<run>/``; for leads."""

    run: BattleRun
    serializer_class: type[Serializer] = BattleRunBody
    reads = access.LEADS
    also: tuple[int, ...] = (409,)
    tag = "battles"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        found = self.round.battle_runs.select_related("job", "prompt").defer("drawn").filter(uuid=kwargs["run"]).first()
        if found is None:
            raise NotFound("This round has no such battles.")
        found.round = self.round
        self.run = found

    def at_work(self) -> Response:
        """The 202 of a run that was put in line again."""
        run = BattleRun.objects.select_related("job").get(pk=self.run.pk)
        if run.job is None:
            raise NotFound("Its job is no more.")
        return started(run.job)


class OneBattleRun(OfBattles):
    """One run of battles."""

    also = ()

    @extend_schema(summary="One run of battles")
    def get(self, request: Request, uuid: uuid_module.UUID, run: uuid_module.UUID) -> Response:
        """How far it is, what it cost, and by model how often the place alone may have decided."""
        return self.told(BattleRunBody, told(self.run, request.user))


class PauseBattles(OfBattles):
    """A pause."""

    @extend_schema(summary="Pause battles", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID, run: uuid_module.UUID) -> Response:
        """They stop once the answers in flight are there."""
        battling.pause(self.run, actor=request.user)
        return self.told(BattleRunBody, told(self.run, request.user))


class GoOnWithBattles(OfBattles):
    """Battles that go on."""

    serializer_class = Started

    @extend_schema(summary="Go on with battles", request=BattlesGoOn, responses={202: Started})
    def post(self, request: Request, uuid: uuid_module.UUID, run: uuid_module.UUID) -> Response:
        """Asks what has no answer; caps that are left out stay, and count all that was ever spent here."""
        battling.go_on(self.run, actor=request.user, **self.sent(BattlesGoOn))
        return self.at_work()


class FurtherBattles(OfBattles):
    """More battles."""

    serializer_class = Started

    @extend_schema(
        summary="Add the most telling battles",
        request=FurtherSent,
        responses={200: BattlesEstimate, 202: Started},
    )
    def post(self, request: Request, uuid: uuid_module.UUID, run: uuid_module.UUID) -> Response:
        """Those that make the scores surer soonest, within the caps; with `dry_run` what they would take."""
        asked = self.sent(FurtherSent)
        if asked["dry_run"]:
            kin = kinship.kin_in(self.round.collection, *(member["model"] for member in self.run.ensemble))
            told = battling.look_further(self.run, asked["number"]).as_json()
            return self.told(BattlesEstimate, told | {"kin": kin})
        battling.further(self.run, asked["number"], actor=request.user)
        return self.at_work()


class GradesOfBattles(OfBattles):
    """Scores made into grades."""

    serializer_class = GradesMade

    @extend_schema(summary="Make a judge of the scores", request=GradesSent, responses={201: GradesMade})
    def post(self, request: Request, uuid: uuid_module.UUID, run: uuid_module.UUID) -> Response:
        """By cut points learnt from what people graded; the judge stands among the machine judges of the round."""
        made = battle_grades.to_grades(self.run, actor=request.user, share=self.sent(GradesSent)["share"])
        body = {"judge": made.uuid, "name": made.name, **{key: made.parameters[key] for key in ("anchors", "cuts")}}
        return self.told(GradesMade, body, status=201)


class ScoresOfBattles(OfBattles):
    """Scores."""

    serializer_class = ScoreBody
    also = ()

    @extend_schema(
        summary="Scores of documents by battles",
        parameters=[OpenApiParameter("query", str, description="The query's id; all queries when left out.")],
        responses={200: ScoreBody(many=True)},
    )
    def get(self, request: Request, uuid: uuid_module.UUID, run: uuid_module.UUID) -> Response:
        """By query, the best first. Battles with a document that you may still grade are left out."""
        scores = battle_scores.scores_of(self.run, request.user, self._query())
        rows = [
            {"query_id": query_id, "doc_id": doc_id, "score": score, "standard_error": error}
            for (query_id, doc_id), (score, error) in scores.items()
        ]
        return Response(ScoreBody(rows, many=True).data)

    def _query(self) -> Query | None:
        asked = self.request.query_params.get("query")
        if asked is None:
            return None
        known = Query.of_any_kind.filter(collection=self.round.collection_id, query_id=asked.replace("\0", ""))
        found = known.order_by("-kind" if self.round.of_answers else "kind").first()
        if found is None:
            raise NotFound("This collection has no query with this id.")
        return found


class AnswersOfBattles(ListModelMixin, OfBattles):
    """What was answered."""

    serializer_class = BattleBody
    also = ()
    queryset = Battle.objects.none()

    @extend_schema(summary="What models answered in battles")
    def get(self, request: Request, uuid: uuid_module.UUID, run: uuid_module.UUID) -> Response:
        """Page by page, as it came. Battles with a document that you may still grade are left out."""
        rows = battle_scores.visible(self.run, request.user).order_by("pk")
        page = self.paginate_queryset(rows.select_related("a__query", "a__document", "b__document"))
        return self.get_paginated_response(BattleBody(page, many=True).data)


class CanariesOfBattles(ListModelMixin, OfBattles):
    """What was answered to planted text."""

    serializer_class = CanaryBody
    also = ()
    queryset = BattleCanary.objects.none()

    @extend_schema(summary="What models answered to planted text in battles")
    def get(self, request: Request, uuid: uuid_module.UUID, run: uuid_module.UUID) -> Response:
        """Page by page, as it came; in no score. Battles with a document that you may still grade are left out."""
        rows = battle_scores.visible(self.run, request.user, BattleCanary).order_by("pk")
        page = self.paginate_queryset(rows.select_related("a__query", "a__document", "b__document"))
        return self.get_paginated_response(CanaryBody(page, many=True).data)
