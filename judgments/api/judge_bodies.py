"""Request and response bodies of machine judges."""

from __future__ import annotations

from rest_framework import serializers

from judgments import judge_kinds, judged, machine_runs, routing
from judgments.api.strict import Strict
from judgments.ensembles import MOST
from judgments.judge_choice import WARMEST
from judgments.model_judges import MOST_EXAMPLES
from judgments.models import JudgeRun
from judgments.models.machine import SAID
from judgments.textmetrics import TEXT_METRICS


class CapsSent(Strict):
    """Where a judge stops, whatever is left. A key that nobody reads is refused: it may have been meant to save."""

    cap_usd = serializers.FloatField(
        required=False, allow_null=True, default=None, min_value=0.0, max_value=machine_runs.MOST_USD
    )
    cap_calls = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=1, max_value=machine_runs.MOST_CALLS
    )


class GoOnSent(CapsSent):
    """Other caps for a judge that goes on, and on how many pairs planted text is tried in all; left out, each stays."""

    canaries = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=machine_runs.MOST_CANARIES
    )


class JudgeSent(CapsSent):
    """A judge to set to a round. One that asks a model needs a provider, its model, and one of the caps."""

    kind = serializers.CharField(
        default=judge_kinds.GRADED,
        max_length=40,
        help_text="`graded`, `expected_answer` or `downstream` ask a model; `token_overlap` and `semantic` ask nobody; "
        "`ensemble` puts together what judges have said in the round.",
    )
    provider = serializers.UUIDField(required=False, allow_null=True, default=None)
    model = serializers.CharField(required=False, allow_blank=True, default="", max_length=200)
    expected = serializers.JSONField(
        required=False,
        default=dict,
        help_text='Accepted answers by query, `{"q1": "an answer", "q2": ["one", "another"]}`, or CSV with the columns '
        "`query_id,expected` as one text; for kinds that compare with them.",
    )
    yes = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        help_text="The grade that a yes stands for, of judges that say yes or no: the lowest relevant one when left "
        "out. A no is the lowest grade.",
    )
    text_metric = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        max_length=40,
        help_text="What scores a system's answers, for `downstream`: " + ", ".join(TEXT_METRICS) + ".",
    )
    temperature = serializers.FloatField(default=0.0, min_value=0.0, max_value=WARMEST)
    parameters = serializers.DictField(
        child=serializers.JSONField(),
        required=False,
        default=dict,
        help_text="What `token_overlap`, `semantic` (threshold, ...) and `ensemble` (rule, least) take.",
    )
    judges = serializers.ListField(
        child=serializers.UUIDField(), required=False, default=list, max_length=MOST, help_text="Of an `ensemble`."
    )
    prompt = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=200,
        help_text="`graded` (the usual one), `binary`, or the id of a prompt's version; of the kinds that compare with "
        "expected answers one of theirs.",
    )
    audit_share = serializers.FloatField(default=0.1, help_text="The share of all pairs that people judge in any case.")
    canaries = serializers.IntegerField(default=0, min_value=0, max_value=machine_runs.MOST_CANARIES)
    examples = serializers.IntegerField(default=0, min_value=0, max_value=MOST_EXAMPLES)
    snapshot = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="Whose frozen labels the examples come from."
    )
    probabilities = serializers.BooleanField(default=False)
    dry_run = serializers.BooleanField(default=False, help_text="Tell what it would take, and ask nothing.")


class KinBody(serializers.Serializer):
    """A run of the family of the judge's model."""

    name = serializers.CharField()
    family = serializers.CharField()
    declared = serializers.BooleanField(help_text="Else its name says so.")


class EstimateBody(serializers.Serializer):
    """What a judge would take; two numbers are low and high."""

    pairs = serializers.IntegerField()
    without_text = serializers.IntegerField()
    without_expected = serializers.IntegerField(
        help_text="Pairs that wait for an expected answer; of an ensemble, for one of its judges."
    )
    examples = serializers.IntegerField()
    canaries = serializers.IntegerField()
    calls = serializers.ListField(child=serializers.IntegerField())
    tokens_in = serializers.ListField(child=serializers.IntegerField())
    tokens_out = serializers.ListField(child=serializers.IntegerField())
    usd = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    looked_at = serializers.IntegerField()
    kin = KinBody(many=True, help_text="Runs that one of its models is kin to: a judge favours its own family.")


class JudgeBody(serializers.Serializer):
    """A judge in a round."""

    id = serializers.UUIDField(source="judge.uuid")
    name = serializers.CharField(source="judge.name")
    kind = serializers.CharField(source="judge.kind")
    says = serializers.ChoiceField(choices=["grade", "usefulness"], help_text="Usefulness is no grade.")
    model = serializers.CharField(source="judge.model")
    prompt_sha256 = serializers.CharField(source="judge.prompt_sha256")
    parameters = serializers.JSONField(help_text="What decides its answers; of battles without what hidden pairs say.")
    state = serializers.CharField(help_text=f"One of {', '.join(JudgeRun.State.values)}.")
    said = serializers.CharField(help_text="Why it ended, where it did not end by itself.")
    tried_again_at = serializers.DateTimeField(
        allow_null=True, help_text="When one whose provider was down is tried again by itself; a pause takes it back."
    )
    job = serializers.UUIDField(allow_null=True)
    cap_usd = serializers.FloatField(allow_null=True)
    cap_calls = serializers.IntegerField(allow_null=True)
    spent_usd = serializers.FloatField()
    calls = serializers.IntegerField()
    audit_share = serializers.FloatField(allow_null=True)
    outcomes = serializers.DictField(child=serializers.IntegerField())
    models_answered = serializers.ListField(child=serializers.CharField())
    renamed = serializers.CharField(help_text="A warning where a model answered under several names; empty else.")
    by_name = serializers.ListField(
        child=serializers.JSONField(),
        help_text="Then by name: answers, the share that is as people say with its interval, kappa but of battles.",
    )
    usd = serializers.FloatField(allow_null=True, help_text="All its answers, of all battles that it is made of.")
    usd_per_thousand = serializers.FloatField(allow_null=True, help_text="For a thousand pairs with an answer.")
    estimated_usd = serializers.FloatField(
        help_text="Of `usd`, what nobody counted: booked is the most that it can have been."
    )
    left_out = serializers.ListField(
        child=serializers.CharField(), help_text="What models were not told since they take none of it."
    )
    flips = serializers.ListField(
        child=serializers.JSONField(), help_text="By trap: planted, flipped, and the share with its interval."
    )


class UsefulBody(serializers.Serializer):
    """How useful documents are to a system, beside how relevant people find them."""

    pairs = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    by_grade = serializers.ListField(
        child=serializers.JSONField(), help_text="For each grade of people: grade, pairs, mean usefulness."
    )
    hidden = serializers.IntegerField(help_text="Pairs left out because you may still grade them.")


class OneJudgeBody(JudgeBody):
    """A judge in a round, with what its usefulness comes to where it tells that."""

    usefulness = UsefulBody(allow_null=True)


class HeldBody(serializers.Serializer):
    """A judge held against people."""

    over = serializers.CharField()
    slice_size = serializers.IntegerField()
    slice_graded = serializers.IntegerField()
    hidden = serializers.IntegerField(help_text="Pairs left out because you may still grade them.")
    passed = serializers.IntegerField(
        help_text=f"Graded pairs not looked at, where there are more than {judged.MOST_HELD:,}: whole queries are."
    )
    calibrated = serializers.JSONField(help_text="As `assay calibrate --format json`.")


class AnswerBody(serializers.Serializer):
    """What a judge said of one pair."""

    query_id = serializers.CharField(source="pair.query.query_id")
    doc_id = serializers.CharField(source="pair.document.doc_id")
    outcome = serializers.ChoiceField(choices=SAID)
    grade = serializers.IntegerField(allow_null=True)
    usefulness = serializers.FloatField(allow_null=True)
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


class DraftSent(Strict):
    """How many pairs at most; the audit slice is never cut."""

    most = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)
