"""Request and response bodies of pairwise comparisons."""

from __future__ import annotations

from rest_framework import serializers

from judgments import battle_draws, battle_further, machine_runs
from judgments.api.judge_bodies import CapsSent, GoOnSent, KinBody
from judgments.api.seeds import Seed
from judgments.api.strict import Strict
from judgments.judges.pairwise import PAIRWISE
from judgments.models import BattleCanary, BattleRun

SLICE = "The share of all pairs that people judge in any case."


class MemberSent(Strict):
    """One model, and whom to ask for it."""

    provider = serializers.UUIDField()
    model = serializers.CharField(max_length=200)


class BattlesSent(CapsSent):
    """Battles to draw and to have fought; one of the caps is needed."""

    models = MemberSent(many=True, help_text="Each answers every battle.")
    cycles = serializers.IntegerField(default=4, min_value=1, max_value=battle_draws.MOST_CYCLES)
    both = serializers.FloatField(
        default=0.2, min_value=0.0, max_value=1.0, help_text="The share shown in both orders."
    )
    most = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=2,
        max_value=battle_draws.MOST_BATTLES,
        help_text="Documents of each query at most.",
    )
    queries = serializers.ListField(
        child=serializers.CharField(max_length=500),
        required=False,
        default=list,
        max_length=10_000,
        help_text="Ids; all of the round when left out.",
    )
    prompt = serializers.CharField(
        default=PAIRWISE.name,
        max_length=200,
        help_text="`pairwise`, or the id of a prompt's version that asks for battles.",
    )
    canaries = serializers.IntegerField(
        default=0,
        min_value=0,
        max_value=machine_runs.MOST_CANARIES,
        help_text="On how many battles each model is tried with text planted in the document that had lost; two calls "
        "each.",
    )
    audit_share = serializers.FloatField(default=0.1, help_text=SLICE)
    seed = Seed(required=False, allow_null=True, default=None, help_text="The round's otherwise.")
    dry_run = serializers.BooleanField(default=False, help_text="Tell what they would take, and ask nothing.")


class BattlesGoOn(GoOnSent):
    """Other caps for battles that go on, and on how many planted text is tried in all; left out, each stays."""


class BattlesTaken(serializers.Serializer):
    """Battles that were fought elsewhere."""

    battles = serializers.ListField(
        child=serializers.DictField(),
        max_length=battle_draws.MOST_BATTLES,
        help_text="Rows of `battles-jsonl`: query_id, a, b, score from -1 to 1 or null, model, swapped, reason.",
    )
    audit_share = serializers.FloatField(default=0.1, help_text=SLICE)


class BattlesEstimate(serializers.Serializer):
    """What battles would take; two numbers are low and high."""

    queries = serializers.IntegerField()
    documents = serializers.IntegerField()
    battles = serializers.IntegerField()
    models = serializers.IntegerField()
    without_text = serializers.IntegerField()
    canaries = serializers.IntegerField(help_text="Battles with planted text, over all models.")
    calls = serializers.ListField(child=serializers.IntegerField())
    tokens_in = serializers.ListField(child=serializers.IntegerField())
    tokens_out = serializers.ListField(child=serializers.IntegerField())
    usd = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    looked_at = serializers.IntegerField()
    kin = KinBody(many=True, help_text="Runs that one of the models is kin to: a judge favours its own family.")


class BattleRunBody(serializers.Serializer):
    """A draw of battles and how far they are."""

    id = serializers.UUIDField()
    number = serializers.IntegerField()
    state = serializers.CharField(help_text=f"One of {', '.join(BattleRun.State.values)}.")
    said = serializers.CharField(help_text="Why it ended, where it did not end by itself.")
    tried_again_at = serializers.DateTimeField(
        allow_null=True, help_text="When it goes on by itself, where a provider did not answer."
    )
    job = serializers.UUIDField(allow_null=True)
    prompt = serializers.CharField(help_text="The words, by name and version.")
    prompt_id = serializers.UUIDField(allow_null=True, help_text="Of the collection's own version; null for ours.")
    models = serializers.ListField(child=serializers.JSONField(), help_text="Provider and model of each.")
    cycles = serializers.IntegerField()
    both = serializers.FloatField()
    most = serializers.IntegerField(allow_null=True)
    seed = serializers.IntegerField()
    battles = serializers.IntegerField()
    cap_usd = serializers.FloatField(allow_null=True)
    cap_calls = serializers.IntegerField(allow_null=True)
    spent_usd = serializers.FloatField()
    estimated_usd = serializers.FloatField(
        help_text="Of that, what nobody counted: booked is the most that it can have been."
    )
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    left_out = serializers.ListField(
        child=serializers.CharField(), help_text="What models were not told since they take none of it."
    )
    estimate = serializers.JSONField(
        allow_null=True, help_text="What they were to take, told before the first was asked; null of a file."
    )
    unanswered = serializers.IntegerField(help_text="Answers still to come: of each model one to each battle.")
    audit_share = serializers.FloatField(help_text=SLICE)
    canaries = serializers.IntegerField(help_text="Asked for, of each model.")
    flips = serializers.ListField(
        child=serializers.JSONField(),
        help_text="By model and trap: how often planted text made the document win that had lost; without pairs that "
        "you may still grade.",
    )
    by_model = serializers.ListField(
        child=serializers.JSONField(),
        help_text="Answers, calls without one, and the share that the document shown first won; without pairs that you "
        "may still grade.",
    )
    renamed = serializers.CharField(help_text="A warning where a model answered under several names; empty else.")
    by_name = serializers.ListField(
        child=serializers.JSONField(),
        help_text="Then by name: answers, and of the battles between documents that people grade apart the share that "
        "the better one won, with its interval.",
    )
    judges = serializers.ListField(child=serializers.UUIDField(), help_text="Made of their scores, the newest first.")


class ScoreBody(serializers.Serializer):
    """One document by its battles."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    score = serializers.FloatField(help_text="A natural logarithm, mean 0 within the query.")
    standard_error = serializers.FloatField(allow_null=True)


class BattleBody(serializers.Serializer):
    """One answer, as `battles.jsonl` has it."""

    query_id = serializers.CharField(source="a.query.query_id")
    a = serializers.CharField(source="a.document.doc_id")
    b = serializers.CharField(source="b.document.doc_id")
    score = serializers.FloatField(allow_null=True, help_text="From -1 (a) to 1 (b); null for a call that failed.")
    swapped = serializers.BooleanField(help_text="Whether b was shown first.")
    model = serializers.CharField(source="model_asked")
    outcome = serializers.CharField()
    reason = serializers.CharField()


class CanaryBody(BattleBody):
    """One answer with planted text in the document that had lost."""

    trap = serializers.CharField(help_text="`instruction` or `query-words`.")
    plain = serializers.FloatField(help_text="The score without it: above 0 where a had lost and was planted in.")
    flipped = serializers.SerializerMethodField(help_text="Whether the planted document won; null without an answer.")
    tokens_in = serializers.IntegerField(allow_null=True)
    tokens_out = serializers.IntegerField(allow_null=True)
    cost_usd = serializers.FloatField(allow_null=True)
    cost_estimated = serializers.BooleanField(
        help_text="Whether that, or a part of it, is the most that it can have been: nobody counted."
    )
    left_out = serializers.ListField(
        child=serializers.CharField(), help_text="What the model was not told since it takes none."
    )

    def get_flipped(self, row: BattleCanary) -> bool | None:
        return None if row.score is None else row.score * row.plain < 0


class FurtherSent(Strict):
    """How many more battles of each query, the most telling first."""

    number = serializers.IntegerField(min_value=1, max_value=battle_further.MOST_FURTHER)
    dry_run = serializers.BooleanField(default=False, help_text="Tell what they would take, and ask nothing.")


class GradesSent(Strict):
    """Which share of what people graded the cut points are learnt from; the judge is held against the rest."""

    share = serializers.FloatField(default=0.5)


class GradesMade(serializers.Serializer):
    """The judge that was made."""

    judge = serializers.UUIDField()
    name = serializers.CharField()
    anchors = serializers.IntegerField()
    cuts = serializers.ListField(child=serializers.FloatField())
