"""Request and response bodies of pairwise comparisons."""

from __future__ import annotations

from rest_framework import serializers

from assay.llm.judges.pairwise import PAIRWISE
from judgments.machines import machine_runs
from judgments.machines.judge_runs.serializers import (
    CallCostBody,
    CapsSent,
    CostEstimateBody,
    GoOnSent,
    KinBody,
    ModelsRunBody,
)
from judgments.machines.pairwise import pair_selection
from judgments.machines.pairwise import pair_selection as further_pairs
from judgments.models import BattleCanary
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

    number = serializers.IntegerField(min_value=1, max_value=further_pairs.MOST_FURTHER)
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
