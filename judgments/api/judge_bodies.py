"""Which shapes do judges have in the API: what is sent to set one to a round, what is told of one?"""

from __future__ import annotations

from rest_framework import serializers

from judgments import judging, routing
from judgments.model_judges import MOST_EXAMPLES
from judgments.models import JudgeRun
from judgments.models.machine import OUTCOMES


class CapsSent(serializers.Serializer):
    """Where a judge stops, whatever is left."""

    cap_usd = serializers.FloatField(required=False, allow_null=True, default=None, min_value=0.0)
    cap_calls = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)


class JudgeSent(CapsSent):
    """A model to set to a round; one of the caps is needed."""

    provider = serializers.UUIDField()
    model = serializers.CharField(max_length=200)
    prompt = serializers.CharField(default="graded", help_text="`graded`, `binary`, or the id of a prompt's version.")
    audit_share = serializers.FloatField(default=0.1, help_text="The share of all pairs that people judge in any case.")
    canaries = serializers.IntegerField(default=0, min_value=0, max_value=judging.MOST_CANARIES)
    examples = serializers.IntegerField(default=0, min_value=0, max_value=MOST_EXAMPLES)
    snapshot = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="Whose frozen labels the examples come from."
    )
    probabilities = serializers.BooleanField(default=False)
    dry_run = serializers.BooleanField(default=False, help_text="Tell what it would take, and ask nothing.")


class EstimateBody(serializers.Serializer):
    """What a judge would take; two numbers are low and high."""

    pairs = serializers.IntegerField()
    without_text = serializers.IntegerField()
    examples = serializers.IntegerField()
    canaries = serializers.IntegerField()
    calls = serializers.ListField(child=serializers.IntegerField())
    tokens_in = serializers.ListField(child=serializers.IntegerField())
    tokens_out = serializers.ListField(child=serializers.IntegerField())
    usd = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    looked_at = serializers.IntegerField()


class JudgeBody(serializers.Serializer):
    """A judge in a round."""

    id = serializers.UUIDField(source="judge.uuid")
    name = serializers.CharField(source="judge.name")
    kind = serializers.CharField(source="judge.kind")
    model = serializers.CharField(source="judge.model")
    prompt_sha256 = serializers.CharField(source="judge.prompt_sha256")
    parameters = serializers.JSONField(source="judge.parameters")
    state = serializers.CharField(help_text=f"One of {', '.join(JudgeRun.State.values)}.")
    said = serializers.CharField(help_text="Why it ended, where it did not end by itself.")
    job = serializers.UUIDField(allow_null=True)
    cap_usd = serializers.FloatField(allow_null=True)
    cap_calls = serializers.IntegerField(allow_null=True)
    spent_usd = serializers.FloatField()
    calls = serializers.IntegerField()
    audit_share = serializers.FloatField(allow_null=True)
    outcomes = serializers.DictField(child=serializers.IntegerField())
    models_answered = serializers.ListField(child=serializers.CharField())
    flips = serializers.ListField(
        child=serializers.JSONField(), help_text="By trap: planted, flipped, and the share with its interval."
    )


class HeldBody(serializers.Serializer):
    """A judge held against people."""

    over = serializers.CharField()
    slice_size = serializers.IntegerField()
    slice_graded = serializers.IntegerField()
    hidden = serializers.IntegerField(help_text="Pairs left out because you may still grade them.")
    calibrated = serializers.JSONField(help_text="As `assay calibrate --format json`.")


class AnswerBody(serializers.Serializer):
    """What a judge said of one pair."""

    query_id = serializers.CharField(source="pair.query.query_id")
    doc_id = serializers.CharField(source="pair.document.doc_id")
    outcome = serializers.ChoiceField(choices=OUTCOMES)
    grade = serializers.IntegerField(allow_null=True)
    rationale = serializers.CharField()
    raw = serializers.CharField()
    created_at = serializers.DateTimeField()


class RoutedBody(serializers.Serializer):
    """A pair that machines leave to people."""

    pair = serializers.UUIDField(source="pair.uuid")
    query_id = serializers.CharField(source="pair.query.query_id")
    doc_id = serializers.CharField(source="pair.document.doc_id")
    reason = serializers.ChoiceField(choices=list(routing.REASONS))
    doubt = serializers.FloatField()
    graded = serializers.IntegerField(help_text="Ratings of people so far.")
    leverage = serializers.FloatField(
        allow_null=True, help_text="How far nDCG@10 of the run that feels it most would move, at most."
    )


class RoutedRound(serializers.Serializer):
    """The draft that was made."""

    round = serializers.UUIDField()
    pairs = serializers.IntegerField()


class DraftSent(serializers.Serializer):
    """How many pairs at most; the audit slice is never cut."""

    most = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)
