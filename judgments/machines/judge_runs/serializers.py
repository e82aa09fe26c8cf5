"""Request and response bodies of machine judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from assay.text_metrics import TEXT_METRICS
from judgments.machines import kinds, machine_runs
from judgments.machines.calibration import calibration, model_names, routing
from judgments.machines.judge_runs import retry
from judgments.machines.judge_runs.ensembles import MOST
from judgments.machines.judge_runs.judge_settings import WARMEST
from judgments.machines.judge_runs.model_judges import MOST_EXAMPLES
from judgments.models import MachineRun
from judgments.models.machines.machine import OUTCOME_NAMES
from judgments.web.serializers import Strict, Texts, Values

# For a judge that never ran in the round itself, such as one based on pairwise comparisons.
NO_RUN = {
    "state": MachineRun.State.DONE,
    "said": "",
    "tried_again_at": None,
    "job": None,
    "cap_usd": None,
    "cap_calls": None,
    "spent_usd": 0.0,
    "calls": 0,
}


def run_fields(run: MachineRun | None) -> dict[str, Any]:
    """Return the state, the next retry, the caps and the usage."""
    if run is None:
        return NO_RUN
    (state, message), waits = machine_runs.state_of(run), retry.wait_of(run)
    return {
        "state": state,
        "said": message,
        "tried_again_at": None if waits is None else waits.at,
        "job": None if run.job is None else run.job.uuid,
        **{name: getattr(run, name) for name in ("cap_usd", "cap_calls", "spent_usd", "calls")},
    }


def name_fields(names: Sequence[model_names.Named]) -> dict[str, Any]:
    """Return the names under which its models answered, with a warning if a model had several."""
    return {"renamed": model_names.warning(list(names)), "by_name": [model_names.as_json(one) for one in names]}


class CapsSent(Strict):
    """The spending and token caps of a judge."""

    cap_usd = serializers.FloatField(allow_null=True, default=None, min_value=0.0, max_value=machine_runs.MOST_USD)
    cap_calls = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=machine_runs.MOST_CALLS)


class GoOnSent(CapsSent):
    """New caps for a resumed judge, and the total number of prompt-injection probes. Omitted values stay as
    they are."""

    canaries = serializers.IntegerField(
        allow_null=True, default=None, min_value=0, max_value=machine_runs.MOST_CANARIES
    )


class JudgeSent(CapsSent):
    """A judge to start in a round. If it calls a model, it needs a provider, a model and one of the caps."""

    kind = serializers.CharField(
        default=kinds.GRADED,
        max_length=40,
        help_text="`graded`, `expected_answer` and `downstream` call a model; `token_overlap` and `semantic` do not; "
        "`ensemble` combines the grades of judges in the round.",
    )
    provider = serializers.UUIDField(allow_null=True, default=None)
    model = serializers.CharField(allow_blank=True, default="", max_length=200)
    expected = serializers.JSONField(
        default=dict,
        help_text='Accepted answers by query: `{"q1": "an answer", "q2": ["one", "another"]}`, or CSV with the columns '
        "`query_id,expected` as one string; for kinds that compare with expected answers.",
    )
    yes = serializers.IntegerField(
        allow_null=True,
        default=None,
        help_text="The grade for a yes, for judges that answer yes or no; by default the lowest relevant grade. A no "
        "always gets the lowest grade.",
    )
    text_metric = serializers.CharField(
        allow_blank=True,
        default="",
        max_length=40,
        help_text="The metric of a system's answers, for `downstream`: " + ", ".join(TEXT_METRICS) + ".",
    )
    temperature = serializers.FloatField(default=0.0, min_value=0.0, max_value=WARMEST)
    parameters = serializers.DictField(
        child=serializers.JSONField(),
        default=dict,
        help_text="Parameters of `token_overlap`, `semantic` (threshold, ...) and `ensemble` (rule, least).",
    )
    judges = serializers.ListField(
        child=serializers.UUIDField(), default=list, max_length=MOST, help_text="The judges of an `ensemble`."
    )
    prompt = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=200,
        help_text="`graded` (the default), `binary`, or the id of a prompt version; for kinds that compare with "
        "expected answers, one of their prompts.",
    )
    audit_share = serializers.FloatField(default=0.1, help_text="The share of all pairs that people always judge.")
    canaries = serializers.IntegerField(default=0, min_value=0, max_value=machine_runs.MOST_CANARIES)
    examples = serializers.IntegerField(default=0, min_value=0, max_value=MOST_EXAMPLES)
    snapshot = serializers.UUIDField(
        allow_null=True, default=None, help_text="The snapshot whose labels become examples."
    )
    probabilities = serializers.BooleanField(default=False)
    dry_run = serializers.BooleanField(
        default=False, help_text="Whether to return only the estimate and make no calls."
    )


class KinBody(serializers.Serializer):
    """A run of the same model family as the judge."""

    name = serializers.CharField()
    family = serializers.CharField()
    declared = serializers.BooleanField(help_text="False if the family was inferred from the run's name.")


class CallCostBody(serializers.Serializer):
    """The tokens and the cost of a call."""

    tokens_in = serializers.IntegerField(allow_null=True)
    tokens_out = serializers.IntegerField(allow_null=True)
    cost_usd = serializers.FloatField(allow_null=True, help_text="Null if the provider lists no price for the model.")
    cost_estimated = serializers.BooleanField(
        help_text="Whether the cost, or a part of it, is an upper bound because the provider reported no token count."
    )
    left_out = Texts(help_text="Parameters that were not sent because the model does not support them.")


class CostEstimateBody(serializers.Serializer):
    """The cost in an estimate. A list of two numbers has a lower and an upper bound."""

    calls = serializers.ListField(child=serializers.IntegerField())
    tokens_in = serializers.ListField(child=serializers.IntegerField())
    tokens_out = serializers.ListField(child=serializers.IntegerField())
    usd = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    looked_at = serializers.IntegerField(help_text="Number of pairs, comparisons or samples behind the estimate.")


class EstimateBody(CostEstimateBody):
    """The estimated cost of a judge. A list of two numbers has a lower and an upper bound."""

    pairs = serializers.IntegerField()
    without_text = serializers.IntegerField()
    without_expected = serializers.IntegerField(
        help_text="Number of pairs without an expected answer; for an ensemble, without a grade by one of its judges."
    )
    examples = serializers.IntegerField()
    canaries = serializers.IntegerField()
    kin = KinBody(
        many=True, help_text="Runs of the same model family as one of its models; a judge may favor its own family."
    )


class RunBody(serializers.Serializer):
    """The state, the caps and the usage of a machine run, as `run_fields` returns them."""

    state = serializers.CharField(help_text=f"One of {', '.join(MachineRun.State.values)}.")
    said = serializers.CharField(help_text="Why the run ended, if it did not succeed.")
    tried_again_at = serializers.DateTimeField(
        allow_null=True,
        help_text="The time of the next automatic retry after a provider failure; a pause cancels the retry.",
    )
    job = serializers.UUIDField(allow_null=True)
    cap_usd = serializers.FloatField(allow_null=True)
    cap_calls = serializers.IntegerField(allow_null=True)
    spent_usd = serializers.FloatField()
    calls = serializers.IntegerField()


class ModelsRunBody(RunBody):
    """A machine run with what is known about its models."""

    estimated_usd = serializers.FloatField(
        help_text="The part of the cost that is an upper bound because the provider reported no token count."
    )
    left_out = Texts(help_text="Parameters that were not sent because the models do not support them.")
    renamed = serializers.CharField(help_text="A warning if a model answered under several names; otherwise empty.")


class JudgeBody(ModelsRunBody):
    """A judge in a round."""

    id = serializers.UUIDField(source="judge.uuid")
    name = serializers.CharField(source="judge.name")
    kind = serializers.CharField(source="judge.kind")
    says = serializers.ChoiceField(
        choices=["grade", "usefulness"], help_text="Whether the judge returns grades or usefulness."
    )
    model = serializers.CharField(source="judge.model")
    prompt_sha256 = serializers.CharField(source="judge.prompt_sha256")
    parameters = serializers.JSONField(
        help_text="Settings that determine its answers; hidden pairs do not affect the values shown for pairwise "
        "comparisons."
    )
    audit_share = serializers.FloatField(allow_null=True)
    outcomes = serializers.DictField(child=serializers.IntegerField())
    models_answered = Texts()
    by_name = Values(
        help_text="By name: number of answers, agreement with people and its interval, and, except for pairwise "
        "comparisons, kappa."
    )
    usd = serializers.FloatField(
        allow_null=True, help_text="Cost of all its answers, including the pairwise comparisons that it is based on."
    )
    usd_per_thousand = serializers.FloatField(allow_null=True, help_text="Cost per thousand answered pairs.")
    flips = Values(help_text="By probe: numbers of sent and flipped probes, and the flipped share with its interval.")


class UsefulBody(serializers.Serializer):
    """How useful documents are to a system, compared with their human grades."""

    pairs = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    by_grade = Values(help_text="For each human grade: the grade, the number of pairs and the mean usefulness.")
    hidden = serializers.IntegerField(help_text="Pairs left out because you may still grade them.")


class OneJudgeBody(JudgeBody):
    """A judge in a round, with its usefulness if it measures that."""

    usefulness = UsefulBody(allow_null=True)


class HeldBody(serializers.Serializer):
    """The calibration of a judge."""

    over = serializers.CharField()
    slice_size = serializers.IntegerField()
    slice_graded = serializers.IntegerField()
    hidden = serializers.IntegerField(help_text="Pairs left out because you may still grade them.")
    passed = serializers.IntegerField(
        help_text=f"Number of pairs left out of the calibration because more than {calibration.MOST_HELD:,} are "
        "graded; whole queries are left out."
    )
    calibrated = serializers.JSONField(help_text="The format of `assay calibrate --format json`.")


class AnswerBody(serializers.Serializer):
    """A judge's answer for one pair."""

    query_id = serializers.CharField(source="pair.query.query_id")
    doc_id = serializers.CharField(source="pair.document.doc_id")
    outcome = serializers.ChoiceField(choices=OUTCOME_NAMES)
    grade = serializers.IntegerField(allow_null=True)
    usefulness = serializers.FloatField(allow_null=True)
    rationale = serializers.CharField()
    raw = serializers.CharField()
    created_at = serializers.DateTimeField()


class RoutedBody(serializers.Serializer):
    """A pair that people should judge."""

    pair = serializers.UUIDField(source="pair.uuid")
    query_id = serializers.CharField(source="pair.query.query_id")
    doc_id = serializers.CharField(source="pair.document.doc_id")
    reason = serializers.ChoiceField(choices=list(routing.REASONS))
    doubt = serializers.FloatField()
    graded = serializers.IntegerField(help_text="Number of human ratings.")
    leverage = serializers.FloatField(
        allow_null=True,
        help_text="The largest change in any run's nDCG@10 that a different grade of the pair could cause.",
    )


class RoutedRound(serializers.Serializer):
    """The new draft round."""

    round = serializers.UUIDField()
    pairs = serializers.IntegerField()


class DraftSent(Strict):
    """The maximum number of pairs. The audit slice is always included."""

    most = serializers.IntegerField(allow_null=True, default=None, min_value=1)
