"""API endpoints for the pairwise comparisons of a round: start, import, estimate, pause, scores and grades."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from assay.core.errors import NotFound, NotValid
from assay.llm.judges.pairwise import PAIRWISE
from judgments.imports.posted_lists import json_lines
from judgments.jobs.api import Started, StartedWith, started
from judgments.machines import machine_runs
from judgments.machines.calibration import cost, model_names, pairwise_judges
from judgments.machines.judge_runs import judge_settings
from judgments.machines.judge_runs.serializers import (
    CallCostBody,
    CapsSent,
    CostEstimateBody,
    GoOnSent,
    KinBody,
    ModelsRunBody,
    name_fields,
    run_fields,
)
from judgments.machines.pairwise import file_import, grades, injection_probe, pair_selection, runs, scores
from judgments.machines.pairwise.pair_selection import ComparisonSettings
from judgments.machines.prompts import prompts
from judgments.models import Battle, BattleCanary, BattleRun, Provider, Query, User
from judgments.web import access
from judgments.web.api_lists import ListedAsArray
from judgments.web.endpoints import InRound, Listed, call, listed
from judgments.web.serializers import Seed, Strict, Values

SLICE = "The share of all pairs that people always judge."


class MemberSent(Strict):
    """One model and its provider."""

    provider = serializers.UUIDField()
    model = serializers.CharField(max_length=200)


class BattlesSent(CapsSent):
    """Pairwise comparisons to draw and run. At least one cap is required."""

    models = MemberSent(many=True, help_text="Each model answers every comparison.")
    cycles = serializers.IntegerField(default=4, min_value=1, max_value=pair_selection.MOST_CYCLES)
    both = serializers.FloatField(
        default=0.2, min_value=0.0, max_value=1.0, help_text="The share of comparisons shown in both orders."
    )
    most = serializers.IntegerField(
        allow_null=True,
        default=None,
        min_value=2,
        max_value=pair_selection.MOST_BATTLES,
        help_text="Maximum number of documents per query.",
    )
    queries = serializers.ListField(
        child=serializers.CharField(max_length=500),
        default=list,
        max_length=10_000,
        help_text="Ids of the queries; by default all queries of the round.",
    )
    prompt = serializers.CharField(
        default=PAIRWISE.name,
        max_length=200,
        help_text="`pairwise`, or the id of a prompt version for pairwise comparisons.",
    )
    canaries = serializers.IntegerField(
        default=0,
        min_value=0,
        max_value=machine_runs.MOST_CANARIES,
        help_text="Number of comparisons per model that are repeated with injected text in the losing document; each "
        "needs two calls.",
    )
    audit_share = serializers.FloatField(default=0.1, help_text=SLICE)
    seed = Seed(allow_null=True, default=None, help_text="The seed of the draw; by default the round's seed.")
    dry_run = serializers.BooleanField(
        default=False, help_text="Whether to return only the estimate and make no calls."
    )


class BattlesGoOn(GoOnSent):
    """New caps for a resumed run, and the total number of prompt-injection probes. Omitted values do not change."""


class BattlesTaken(serializers.Serializer):
    """Pairwise comparisons made elsewhere."""

    battles = serializers.ListField(
        child=serializers.DictField(),
        max_length=pair_selection.MOST_BATTLES,
        help_text="Rows of `battles-jsonl`: query_id, a, b, score from -1 to 1 or null, model, swapped, reason.",
    )
    audit_share = serializers.FloatField(default=0.1, help_text=SLICE)


class BattlesEstimate(CostEstimateBody):
    """The estimated cost of pairwise comparisons. A list of two numbers has a lower and an upper bound."""

    queries = serializers.IntegerField()
    documents = serializers.IntegerField()
    battles = serializers.IntegerField()
    models = serializers.IntegerField()
    without_text = serializers.IntegerField()
    canaries = serializers.IntegerField(help_text="Prompt-injection probes, over all models.")
    kin = KinBody(
        many=True, help_text="Runs of the same model family as one of the models; a judge may favor its own family."
    )


class BattleRunBody(ModelsRunBody):
    """A set of pairwise comparisons and its progress."""

    id = serializers.UUIDField()
    number = serializers.IntegerField()
    prompt = serializers.CharField(help_text="Name and version of the prompt.")
    prompt_id = serializers.UUIDField(
        allow_null=True, help_text="Id of the collection's prompt version; null for a built-in prompt."
    )
    models = Values(help_text="Provider and name of each model.")
    cycles = serializers.IntegerField()
    both = serializers.FloatField()
    most = serializers.IntegerField(allow_null=True)
    seed = serializers.IntegerField()
    battles = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    estimate = serializers.JSONField(
        allow_null=True, help_text="The estimate made before the first call; null for imported comparisons."
    )
    unanswered = serializers.IntegerField(help_text="Number of missing answers. Each model answers every comparison.")
    audit_share = serializers.FloatField(help_text=SLICE)
    canaries = serializers.IntegerField(help_text="Number of probes requested per model.")
    flips = Values(
        help_text="By model and probe: how often the probe made the losing document win, without pairs that "
        "you may still grade."
    )
    by_model = Values(
        help_text="By model: answers, failed calls, and the share won by the document shown first, without pairs that "
        "you may still grade."
    )
    by_name = Values(
        help_text="By name: number of answers, and the share won by the document with the higher human grade, with its "
        "interval."
    )
    judges = serializers.ListField(
        child=serializers.UUIDField(), help_text="Judges created from the scores, newest first."
    )


class ScoreBody(serializers.Serializer):
    """One document and its score."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    score = serializers.FloatField(help_text="Natural logarithm, with mean 0 within the query.")
    standard_error = serializers.FloatField(allow_null=True)


class BattleBody(serializers.Serializer):
    """One answer, in the format of `battles.jsonl`."""

    query_id = serializers.CharField(source="a.query.query_id")
    a = serializers.CharField(source="a.document.doc_id")
    b = serializers.CharField(source="b.document.doc_id")
    score = serializers.FloatField(allow_null=True, help_text="From -1 (a) to 1 (b); null for a failed call.")
    swapped = serializers.BooleanField(help_text="Whether b was shown first.")
    model = serializers.CharField(source="requested_model")
    outcome = serializers.CharField()
    reason = serializers.CharField()


class CanaryBody(CallCostBody, BattleBody):
    """One answer to a prompt-injection probe in the losing document."""

    trap = serializers.CharField(help_text="`instruction` or `query-words`.")
    plain = serializers.FloatField(help_text="The score without the probe; above 0 if a lost and contains the probe.")
    flipped = serializers.SerializerMethodField(
        help_text="Whether the document with the probe won; null without an answer."
    )

    def get_flipped(self, row: BattleCanary) -> bool | None:
        return None if row.score is None else row.score * row.plain < 0


class FurtherSent(Strict):
    """The number of additional comparisons per query, most informative first."""

    number = serializers.IntegerField(min_value=1, max_value=pair_selection.MOST_FURTHER)
    dry_run = serializers.BooleanField(
        default=False, help_text="Whether to return only the estimate and make no calls."
    )


class GradesSent(Strict):
    """The share of human grades from which thresholds are learned; the rest is for calibration."""

    share = serializers.FloatField(default=0.5)


class GradesMade(serializers.Serializer):
    """The new judge based on the scores."""

    judge = serializers.UUIDField()
    name = serializers.CharField()
    anchors = serializers.IntegerField()
    cuts = serializers.ListField(child=serializers.FloatField())


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
            kin = judge_settings.kin_in(self.round.collection, *(model for _, model in choice.ensemble))
            return self.respond(BattlesEstimate, runs.estimate_run(self.round, choice).as_json() | {"kin": kin})
        caps = {name: body[name] for name in ("cap_usd", "cap_calls")}
        run = runs.start(self.round, choice, actor=self.user, **caps)
        return started(run.job, run.uuid)

    def _choice(self, body: dict[str, Any]) -> ComparisonSettings:
        providers = {one.uuid: one for one in self.round.collection.providers.all()}
        ensemble: list[tuple[Provider, str]] = []
        for member in body["models"]:
            if member["provider"] not in providers:
                raise NotValid(f"This collection has no provider {member['provider']}.", "models")
            ensemble.append((providers[member["provider"]], member["model"]))
        seed = self.round.seed if body["seed"] is None else body["seed"]
        prompt = prompts.find(self.round.collection, body["prompt"], prompts.BATTLE)
        plain = {name: body[name] for name in ("cycles", "both", "most", "queries", "canaries", "audit_share")}
        return ComparisonSettings(ensemble, seed=seed, prompt=prompt, **plain)


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
            kin = judge_settings.kin_in(self.round.collection, *(member["model"] for member in self.run.ensemble))
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
        found = scores.scores_of(self.run, self.user, self._query())
        return [
            {"query_id": query_id, "doc_id": doc_id, "score": score, "standard_error": error}
            for (query_id, doc_id), (score, error) in found.items()
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
