"""API endpoints for the pairwise comparisons of a round: start, import, estimate, pause, scores and grades."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from assay.core.errors import NotFound, NotValid
from judgments.imports.posted_lists import json_lines
from judgments.jobs.api import Started, StartedWith, started
from judgments.machines.calibration import cost, model_names, pairwise_judges
from judgments.machines.judge_runs import kinship
from judgments.machines.judge_runs.serializers import name_fields, run_fields
from judgments.machines.pairwise import file_import, grades, injection_probe, runs, scores
from judgments.machines.pairwise import scores as battle_scores
from judgments.machines.pairwise.pair_selection import Choice
from judgments.machines.pairwise.serializers import (
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
from judgments.machines.prompts import prompts
from judgments.models import Battle, BattleCanary, BattleRun, Provider, Query, User
from judgments.web import access
from judgments.web.api_lists import ListedAsArray
from judgments.web.endpoints import InRound, Listed, call, listed

PLAIN = ("number", "cycles", "both", "most", "seed", "battles", "canaries", "audit_share")


def serialize_run(run: BattleRun, viewer: User) -> dict[str, Any]:
    """Return the API body of a run."""
    spent = cost.of_battles(run)
    return {
        **{name: getattr(run, name) for name in PLAIN},
        "id": run.uuid,
        **run_fields(run),
        **name_fields(model_names.by_name_of(run, viewer)),
        "estimate": run.estimate or None,
        "unanswered": runs.unanswered(run),
        "tokens_in": spent.tokens_in,
        "tokens_out": spent.tokens_out,
        "estimated_usd": spent.estimated,
        "left_out": list(spent.left_out),
        "prompt": f"{run.inputs['template'][0]} v{run.inputs['template'][1]}",
        "prompt_id": None if run.prompt is None else run.prompt.uuid,
        "flips": [
            {"model": of.model, **one.as_json()} for of in injection_probe.flips(run, viewer) for one in of.flips
        ],
        "models": [{name: one[name] for name in ("provider", "model")} for one in run.ensemble],
        "by_model": scores.counts(run, viewer),
        "judges": [judge.uuid for judge in grades.judges_of(run)],
    }


@listed(
    "List the pairwise comparison runs of a round", "Return the runs, newest first, each with its progress and cost."
)
class BattleRuns(ListedAsArray, InRound):
    """The pairwise comparisons of a round; for leads."""

    serializer_class = BattleRunBody
    ordering = {"number": "number", "state": "state"}
    reads = access.LEADS
    also = (409,)
    tag = "battles"

    def rows(self) -> list[dict[str, Any]]:
        rows = self.round.battle_runs.select_related("job", "prompt").defer("drawn")
        return [serialize_run(run, self.user) for run in rows]

    @call(
        "Start pairwise comparisons",
        body=BattlesSent,
        responses={200: BattlesEstimate, 202: StartedWith},
        example=(
            "Estimate the cost",
            {"models": [{"provider": "<id>", "model": "judge-large"}], "cap_usd": 5, "dry_run": True},
        ),
    )
    def post(self, body: dict[str, Any]) -> Response:
        """With `dry_run`, return the estimate; otherwise start a job that stays within its caps."""
        choice = self._choice(body)
        if body["dry_run"]:
            kin = kinship.kin_in(self.round.collection, *(model for _, model in choice.ensemble))
            return self.respond(BattlesEstimate, runs.estimate_run(self.round, choice).as_json() | {"kin": kin})
        caps = {name: body[name] for name in ("cap_usd", "cap_calls")}
        run = runs.start(self.round, choice, actor=self.user, **caps)
        return started(run.job, run.uuid)

    def _choice(self, body: dict[str, Any]) -> Choice:
        providers = {one.uuid: one for one in self.round.collection.providers.all()}
        ensemble: list[tuple[Provider, str]] = []
        for member in body["models"]:
            if member["provider"] not in providers:
                raise NotValid(f"This collection has no provider {member['provider']}.", "models")
            ensemble.append((providers[member["provider"]], member["model"]))
        seed = self.round.seed if body["seed"] is None else body["seed"]
        prompt = prompts.find(self.round.collection, body["prompt"], prompts.BATTLE)
        plain = {name: body[name] for name in ("cycles", "both", "most", "queries", "canaries", "audit_share")}
        return Choice(ensemble, seed=seed, prompt=prompt, **plain)


class ImportBattles(InRound):
    tag = "battles"

    @call("Import pairwise comparisons", BattleRunBody, BattlesTaken, status=201)
    def post(self, body: dict[str, Any]) -> Any:
        """All comparisons are stored, or none."""
        content = json_lines("battles-jsonl", body["battles"]).content
        share = body["audit_share"]
        run = file_import.import_battles(self.round, content, filename="battles", actor=self.user, audit_share=share)
        return serialize_run(run, self.user)


class OfBattles(InRound):
    """Base class of endpoints below ``battles/<run>/``, which are for leads."""

    run: BattleRun
    serializer_class: type[Serializer] = BattleRunBody
    reads = access.LEADS
    also: tuple[int, ...] = (409,)
    tag = "battles"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        rows = self.round.battle_runs.select_related("job", "prompt").defer("drawn").filter(uuid=kwargs["run"])
        self.run = access.existing(rows, "This round has no such pairwise comparisons.")
        self.run.round = self.round

    def at_work(self) -> Response:
        """Return status 202 for a run that was queued again."""
        run = BattleRun.objects.select_related("job").get(pk=self.run.pk)
        if run.job is None:
            raise NotFound("The job of these comparisons was deleted, so they cannot be resumed.")
        return started(run.job)


class OneBattleRun(OfBattles):
    also = ()

    @call("Get a pairwise comparison run", BattleRunBody)
    def get(self) -> Any:
        """Return its progress and cost and, by model, how often the position alone may have decided."""
        return serialize_run(self.run, self.user)


class PauseBattles(OfBattles):
    @call("Pause pairwise comparisons", BattleRunBody)
    def post(self) -> Any:
        """The job stops after the calls in progress have returned."""
        runs.pause(self.run, actor=self.user)
        return serialize_run(self.run, self.user)


class GoOnWithBattles(OfBattles):
    @call("Resume pairwise comparisons", body=BattlesGoOn, responses={202: Started})
    def post(self, body: dict[str, Any]) -> Response:
        """Send the unanswered comparisons. Omitted caps do not change. Caps apply to everything the run has
        spent."""
        runs.resume(self.run, actor=self.user, **body)
        return self.at_work()


class FurtherBattles(OfBattles):
    @call("Add the most informative comparisons", body=FurtherSent, responses={200: BattlesEstimate, 202: Started})
    def post(self, body: dict[str, Any]) -> Response:
        """Add the comparisons that reduce the uncertainty of scores most, within the caps."""
        if body["dry_run"]:
            kin = kinship.kin_in(self.round.collection, *(member["model"] for member in self.run.ensemble))
            estimate = runs.estimate_further(self.run, body["number"]).as_json()
            return self.respond(BattlesEstimate, estimate | {"kin": kin})
        runs.further(self.run, body["number"], actor=self.user)
        return self.at_work()


class GradesOfBattles(OfBattles):
    @call("Create a judge from the scores", GradesMade, GradesSent, status=201)
    def post(self, body: dict[str, Any]) -> Any:
        """Thresholds are learned from human grades. The new judge is listed with the machine judges of the round."""
        made = grades.create_judge(self.run, actor=self.user, share=body["share"])
        return {"judge": made.uuid, "name": made.name, **{key: made.parameters[key] for key in ("anchors", "cuts")}}


@listed(
    "List document scores from pairwise comparisons",
    "Return scores by query, best first, without comparisons of documents that you may still grade.",
    OpenApiParameter("query", str, description="The query's id; by default all queries."),
)
class ScoresOfBattles(ListedAsArray, OfBattles):
    """Scores of documents."""

    serializer_class = ScoreBody
    ordering = {name: name for name in ("query_id", "doc_id", "score")}
    also = ()

    def rows(self) -> list[dict[str, Any]]:
        scores = battle_scores.scores_of(self.run, self.user, self._query())
        return [
            {"query_id": query_id, "doc_id": doc_id, "score": score, "standard_error": error}
            for (query_id, doc_id), (score, error) in scores.items()
        ]

    def _query(self) -> Query | None:
        query_id = self.request.query_params.get("query")
        if query_id is None:
            return None
        known = Query.of_any_kind.filter(collection=self.round.collection_id, query_id=query_id.replace("\0", ""))
        ordered = known.order_by("-kind" if self.round.of_answers else "kind")
        return access.existing(ordered, "This collection has no query with this id.")


@listed(
    "List answers in pairwise comparisons",
    "Return answers in order of arrival, without comparisons of documents that you may still grade.",
)
class AnswersOfBattles(Listed, OfBattles):
    """The models' answers."""

    serializer_class = BattleBody
    ordering = {"score": "score", "model": "requested_model"}
    also = ()
    queryset = Battle.objects.none()

    def rows(self) -> Any:
        rows = pairwise_judges.visible_battles(self.run, self.request.user).order_by("pk")
        return rows.select_related("a__query", "a__document", "b__document")


@listed("List answers to prompt-injection probes", "Return answers in order of arrival. They do not affect scores.")
class CanariesOfBattles(Listed, OfBattles):
    """The models' answers to prompt-injection probes."""

    serializer_class = CanaryBody
    ordering = {"trap": "trap", "plain": "plain"}
    also = ()
    queryset = BattleCanary.objects.none()

    def rows(self) -> Any:
        rows = pairwise_judges.visible_battles(self.run, self.request.user, BattleCanary).order_by("pk")
        return rows.select_related("a__query", "a__document", "b__document")
