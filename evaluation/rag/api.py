"""API of RAG evaluation: samples, outputs of systems, and scorecards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotFound, NotValid
from assay.rag.reader import MISSING
from evaluation.models import RagCriticRun, RagSampleSet, RagSystem
from evaluation.rag import critics, from_collection, people, sample_sets, scorecards, systems
from evaluation.rag.critic_ledger import critic_of
from evaluation.rag.sample_sets import sample_set_for
from judgments.imports.api import FileSent, Imports, Reading, documented
from judgments.imports.posted_lists import PostedFile, json_lines
from judgments.jobs.api import Started, StartedWith, started
from judgments.machines.judge_runs.serializers import CapsSent, CostEstimateBody, RunBody, run_fields
from judgments.web import access
from judgments.web.api_lists import ListedAsArray
from judgments.web.endpoints import AnyAccept, InCollection, call, listed, rows_called
from judgments.web.posted_values import uuid_of
from judgments.web.serializers import Strict

TAG = "rag"
JSONL = {(200, "application/x-ndjson"): OpenApiTypes.BINARY}


class SampleSent(serializers.Serializer):
    """One sample. It may have the other fields of samples.jsonl."""

    sample_id = serializers.CharField(required=False)
    query = serializers.CharField()
    reference_answer = serializers.JSONField(required=False, allow_null=True, help_text="A text, or a list of texts.")
    relevant_docs = serializers.ListField(required=False, allow_null=True, help_text="Ids, or objects with text.")
    labels = serializers.DictField(required=False)


class SampleSetBody(serializers.Serializer):
    """A sample set."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    samples = serializers.IntegerField(source="rows")
    figures = serializers.DictField(child=serializers.IntegerField())
    labels = serializers.DictField(help_text="Number of samples by label and value, for labels that can form slices.")
    sha256 = serializers.CharField(source="stored_sha256", help_text="Hash of the stored file.")
    created_at = serializers.DateTimeField()


class OutputSent(serializers.Serializer):
    """The output of a system for one sample. It may have the other fields of outputs.jsonl."""

    sample_id = serializers.CharField()
    response = serializers.CharField(required=False, allow_null=True)
    retrieved = serializers.ListField(required=False, help_text="Ids, or objects with text, score and rank.")
    timings = serializers.DictField(required=False, child=serializers.FloatField(), help_text="Seconds by stage.")


class OutputsReading(Reading):
    """How to read and store the outputs of a system."""

    samples = serializers.UUIDField(
        required=False, help_text="The sample set; by default the one that contains the ids of the outputs."
    )
    missing = serializers.ChoiceField(
        required=False,
        choices=list(MISSING),
        help_text="How to treat a sample without an output: report an error, leave it out, or score it 0.",
    )


class OutputsFileSent(OutputsReading, FileSent):
    """The outputs of a system as a file."""


class RagSystemBody(serializers.Serializer):
    """A system that answered a sample set."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    samples = serializers.UUIDField(source="sample_set.uuid")
    description = serializers.CharField()
    baseline = serializers.BooleanField()
    outputs = serializers.IntegerField(source="rows")
    missing = serializers.CharField()
    figures = serializers.DictField(child=serializers.IntegerField())
    sha256 = serializers.CharField(source="stored_sha256", help_text="Hash of the stored file.")
    created_at = serializers.DateTimeField()


class SystemSent(Strict):
    """The fields of a system that can be changed."""

    baseline = serializers.BooleanField(help_text="Send true to make this system the baseline.")

    def validate_baseline(self, value: bool) -> bool:
        if not value:
            raise serializers.ValidationError("Make another system the baseline instead.")
        return value


class FromCollectionSent(Strict):
    """The sources of a sample set."""

    name = serializers.CharField(max_length=120)
    snapshot = serializers.UUIDField(
        required=False, allow_null=True, help_text="Its labels define the relevant documents."
    )
    run = serializers.UUIDField(
        required=False, allow_null=True, help_text="This run becomes a system that only retrieves documents."
    )
    threshold = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        help_text="The lowest relevant grade; by default the threshold of the scale.",
    )
    depth = serializers.IntegerField(required=False, min_value=1, max_value=from_collection.MOST_DEPTH)


class ScoreSent(Strict):
    """How the systems of a set are scored."""

    metrics = serializers.ListField(
        child=serializers.CharField(max_length=200),
        required=False,
        help_text="Metric names as `assay rag -m` accepts them.",
    )
    slices = serializers.ListField(child=serializers.CharField(max_length=200), required=False)


class RagSetNamed(serializers.Serializer):
    """A sample set by name."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    sha256 = serializers.CharField()


class RagScoreBody(serializers.Serializer):
    """One metric. Its value is 0 if `details.defined` is false."""

    value = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    interval_reason = serializers.CharField(required=False)
    details = serializers.DictField()


class RagSystemScores(serializers.Serializer):
    """The scorecard of one system."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    baseline = serializers.BooleanField()
    sha256 = serializers.CharField()
    missing = serializers.CharField()
    computed_at = serializers.DateTimeField()
    notes = serializers.ListField(child=serializers.CharField())
    metrics = serializers.DictField(child=RagScoreBody())
    slices = serializers.DictField()
    per_sample = serializers.DictField(required=False)


class RagComparisonBody(serializers.Serializer):
    """Two systems compared under one metric; the difference is b minus a."""

    metric = serializers.CharField()
    a = serializers.CharField()
    b = serializers.CharField()
    samples = serializers.IntegerField()
    a_value = serializers.FloatField(allow_null=True)
    b_value = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    p_corrected = serializers.FloatField(allow_null=True)
    wins = serializers.IntegerField(allow_null=True)
    ties = serializers.IntegerField(allow_null=True)
    losses = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField(allow_null=True)


class RagScorecardsBody(serializers.Serializer):
    """The format of `assay rag --format json`, with ids."""

    sample_set = RagSetNamed()
    samples = serializers.IntegerField()
    settings = serializers.DictField()
    metrics = serializers.DictField(child=serializers.DictField())
    systems = RagSystemScores(many=True)
    comparisons = RagComparisonBody(many=True)
    job = serializers.UUIDField(allow_null=True, help_text="The running job, or null if none is running.")


class CriticSent(CapsSent):
    """A critic, its metrics and its caps."""

    provider = serializers.UUIDField()
    model = serializers.CharField(max_length=200)
    metrics = serializers.ListField(
        child=serializers.CharField(max_length=200),
        default=list(critics.METRICS),
        help_text="Metrics that use a critic, with names as `assay rag -m` accepts them.",
    )
    dry_run = serializers.BooleanField(
        default=False, help_text="Whether to return only the estimate and make no calls."
    )


class CriticEstimateBody(CostEstimateBody):
    """The estimated cost of a critic. Two numbers are a lower and an upper bound."""

    systems = serializers.IntegerField()
    samples = serializers.IntegerField()
    known = serializers.IntegerField(help_text="Questions with a stored answer; they are not sent again.")


class CriticBody(RunBody):
    """The critic of a sample set: its newest run."""

    id = serializers.UUIDField()
    model = serializers.CharField()
    metrics = serializers.ListField(child=serializers.CharField())
    prompts = serializers.DictField(help_text="Name, version and SHA-256 of the prompt for each metric.")
    state = serializers.ChoiceField(choices=RagCriticRun.State.choices)


@extend_schema_view(
    get=extend_schema(summary="List RAG sample sets"),
    post=documented(
        "Upload RAG samples", SampleSent, [{"sample_id": "s1", "query": "Where?", "reference_answer": "Here"}]
    ),
)
class Samples(Imports):
    """The sample sets of a collection. A posted list needs `?name=`."""

    kind = "samples"
    queryset = RagSampleSet.objects.defer("report", "comparisons").order_by("-created_at", "-pk")
    serializer_class = SampleSetBody
    filters = {"name": "name"}
    ordering = {"created_at": "created_at", "name": "name"}
    tag = TAG

    def as_file(self, rows: Sequence[Any], data: dict[str, Any]) -> PostedFile:
        return json_lines("samples-jsonl", _named(rows, data))


def _named(rows: Sequence[Any], data: dict[str, Any]) -> Sequence[Any]:
    if not data.get("name"):
        raise NotValid(
            "The name of the sample set is missing. A posted list has no file name.",
            {"name": "Add ?name=shop to the URL."},
        )
    return rows


class FromCollection(InCollection):
    """Sample sets built from the collection's own data."""

    serializer_class = Started
    writes = access.STAFF
    also = (409,)
    tag = TAG

    @call(
        "Create RAG samples from the collection",
        Started,
        FromCollectionSent,
        status=202,
        example=("From labels", {"name": "ours", "depth": 10}),
    )
    def post(self, body: dict[str, Any]) -> Response:
        """The collection's queries become questions; a snapshot adds relevant documents, and a run adds a first
        system."""
        given = {name: value for name, value in body.items() if value is not None}
        for name, rows in (("snapshot", self.collection.snapshots.all()), ("run", self.collection.runs.active())):
            if name in given:
                given[name] = rows_called(rows, [given[name]], name, name)[0]
        return started(from_collection.start(self.collection, **given, actor=self.user))


class InSampleSet(InCollection):
    """Base class of endpoints below ``rag/samples/<uuid>/``."""

    sample_set: RagSampleSet
    tag = TAG

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.sample_set = sample_set_for(request.user, self.collection, str(kwargs["uuid"]))


class OneSampleSet(InSampleSet):
    """One sample set."""

    serializer_class = SampleSetBody

    @call("Get a RAG sample set", SampleSetBody)
    def get(self) -> RagSampleSet:
        return self.sample_set


class SamplesFile(AnyAccept, InSampleSet):
    """The samples of a set as a file."""

    @call("Download RAG samples", responses=JSONL)
    def get(self) -> FileResponse:
        """Return the file samples.jsonl."""
        return sample_sets.download(self.sample_set, "samples.jsonl")


class Scorecards(InSampleSet):
    """The scorecards of a set's systems."""

    serializer_class = RagScorecardsBody
    writes = access.STAFF

    @call(
        "List the scorecards of RAG systems",
        RagScorecardsBody,
        parameters=[OpenApiParameter("per_sample", bool, description="Whether to include the values of each sample.")],
    )
    def get(self) -> Response:
        """Return the stored values of each metric with intervals, slices and paired comparisons of all systems."""
        per_sample = self.request.query_params.get("per_sample") == "true"
        body = scorecards.as_json(self.sample_set, self.user, per_sample=per_sample)
        job = scorecards.job_of(self.sample_set)
        return Response({**body, "job": str(job.uuid) if job and not job.over else None})

    @call("Score RAG systems", Started, ScoreSent, status=202)
    def post(self, body: dict[str, Any]) -> Response:
        """Start a job that scores all systems of the set. Without metrics it computes the default metrics."""
        settings = scorecards.settings_of(self.sample_set)
        chosen = {"metrics": settings.metrics, "slices": settings.slices} | body
        return started(scorecards.change(self.sample_set, **chosen, actor=self.user))


class PeopleBody(serializers.Serializer):
    """A metric compared with the labels of a closed round."""

    round = serializers.UUIDField()
    name = serializers.CharField()
    dimension = serializers.CharField()
    metric = serializers.CharField()
    calibration = serializers.DictField(
        help_text="Kappa, alpha, confusion matrix, bias, and the mean human grade for each machine grade."
    )
    systems = serializers.ListField(
        child=serializers.DictField(),
        help_text="For each system, the metric's mean, and the mean corrected by human grades with an interval.",
    )


@listed(
    "Compare RAG metrics with human grades",
    "Return one row per closed round and metric of its dimension, without rounds that you may still grade.",
)
class People(ListedAsArray, InSampleSet):
    """The metrics of a set compared with human grades."""

    serializer_class = PeopleBody
    ordering = {"name": "name", "metric": "metric"}

    def rows(self) -> list[dict[str, Any]]:
        cards = scorecards.cards_of(self.sample_set, self.user, per_sample=True)
        return [one.as_json() for one in people.comparisons(self.sample_set, cards, self.user)]


class OfCritic(InSampleSet):
    """Base class of endpoints below ``critic/``."""

    serializer_class: type[serializers.Serializer] = CriticBody
    writes = access.LEADS
    also = (409,)

    @property
    def run(self) -> RagCriticRun:
        run = critic_of(self.sample_set)
        if run is None:
            raise NotFound("This sample set has no critic.")
        return run

    def body(self) -> dict[str, Any]:
        run = self.run
        named = {"id": run.uuid, "model": run.model, "metrics": run.metrics, "prompts": run.parameters["prompts"]}
        return named | run_fields(run)


class Critic(OfCritic):
    """The critic of a sample set."""

    @call("Get the critic of RAG systems", CriticBody)
    def get(self) -> dict[str, Any]:
        """Return the state, caps and cost of the critic. Its scores are in the scorecards."""
        return self.body()

    @call(
        "Start a critic of RAG systems",
        body=CriticSent,
        responses={200: CriticEstimateBody, 202: StartedWith},
        example=("Estimate first", {"provider": "<id>", "model": "judge-large", "dry_run": True}),
    )
    def post(self, body: dict[str, Any]) -> Response:
        """With `dry_run`, return the estimate; otherwise start a job that stays within its caps."""
        provider = rows_called(self.collection.providers.all(), [body["provider"]], "provider", "provider")[0]
        choice = critics.CriticSettings(provider, body["model"], body["metrics"])
        if body["dry_run"]:
            return self.respond(CriticEstimateBody, critics.look(self.sample_set, choice).as_json())
        caps = {name: body[name] for name in ("cap_usd", "cap_calls")}
        run = critics.start(self.sample_set, choice, **caps, actor=self.user)
        return started(run.job, run.uuid)


class PauseCritic(OfCritic):
    """A pause of the critic."""

    @call("Pause the critic of RAG systems", CriticBody)
    def post(self) -> dict[str, Any]:
        """The job stops after the calls in progress have returned."""
        critics.pause(self.run, actor=self.user)
        return self.body()


class GoOnWithCritic(OfCritic):
    """A resumed critic."""

    @call("Resume the critic of RAG systems", Started, CapsSent, status=202)
    def post(self, body: dict[str, Any]) -> Response:
        """Send the unanswered questions, including those about new systems. Omitted caps stay unchanged. Caps
        apply to the whole run."""
        return started(critics.go_on(self.run, **body, actor=self.user).job)


@extend_schema_view(
    get=extend_schema(summary="List RAG systems"),
    post=documented(
        "Upload the outputs of a RAG system",
        OutputSent,
        [{"sample_id": "s1", "response": "Here", "retrieved": [{"doc_id": "d1", "text": "It is here."}]}],
        OutputsReading,
        OutputsFileSent,
    ),
)
class Outputs(Imports):
    """The systems of a collection, created from imported outputs. A posted list needs `?name=`."""

    kind = "outputs"
    queryset = RagSystem.objects.select_related("sample_set").defer("report").order_by("sample_set", "name")
    serializer_class = RagSystemBody
    reading, file_serializer = OutputsReading, OutputsFileSent
    filters = {"name": "name"}
    ordering = {"name": "name", "created_at": "created_at"}
    parameters = (OpenApiParameter("samples", OpenApiTypes.UUID, description="The systems of this sample set only."),)
    tag = TAG

    def rows(self) -> QuerySet[Any]:
        rows = super().rows()
        wanted = self.request.query_params.get("samples")
        return rows if wanted is None else rows.filter(sample_set__uuid=uuid_of(wanted))

    def as_file(self, rows: Sequence[Any], data: dict[str, Any]) -> PostedFile:
        return json_lines("outputs-jsonl", _named(rows, data))


class InSystem(InCollection):
    """Base class of endpoints below ``rag/outputs/<uuid>/``."""

    system: RagSystem
    tag = TAG

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.system = systems.system_for(request.user, self.collection, str(kwargs["uuid"]))


class OneSystem(InSystem):
    """One system."""

    serializer_class = RagSystemBody
    writes = access.STAFF

    @call("Get a RAG system", RagSystemBody)
    def get(self) -> RagSystem:
        return self.system

    @call("Make a RAG system the baseline", RagSystemBody, SystemSent)
    def patch(self, body: dict[str, Any]) -> RagSystem:
        """Make this system the one with which the other systems of the set are compared."""
        systems.set_baseline(self.system, actor=self.user)
        self.system.refresh_from_db()
        return self.system


class OutputsFile(AnyAccept, InSystem):
    """The outputs of a system as a file."""

    @call("Download the outputs of a RAG system", responses=JSONL)
    def get(self) -> FileResponse:
        """Return the file outputs.jsonl."""
        return sample_sets.download(self.system, "outputs.jsonl")
