"""Forms of the pages for pairwise comparisons."""

from __future__ import annotations

from typing import Any

from django import forms

from judgments import cap_forms, prompts_kept
from judgments.battle_draws import MOST_CYCLES, Choice
from judgments.battle_further import MOST_FURTHER
from judgments.forms import AssayForm
from judgments.judge_forms import APART, models_of
from judgments.judges.pairwise import PAIRWISE
from judgments.machine_runs import MOST_CANARIES
from judgments.models import Provider, Round


def _slice() -> forms.FloatField:
    return forms.FloatField(
        label="Audit slice, in percent",
        min_value=0.1,
        max_value=100,
        initial=10,
        help_text="This share of all pairs, drawn at random, is for people whatever comes of the battles; grades that "
        "are made of them are held against people there.",
    )


class BattleForm(AssayForm):
    """Who is to fight about which documents, within which caps."""

    models = forms.MultipleChoiceField(
        label="Models",
        widget=forms.CheckboxSelectMultiple,
        help_text="Each answers every battle. Several of different makers err less alike.",
    )
    cycles = forms.IntegerField(
        min_value=1,
        max_value=MOST_CYCLES,
        initial=4,
        help_text="In a cycle each document meets two others at random. Two to four tell nearly as much as all pairs.",
    )
    both = forms.FloatField(
        label="Shown in both orders, in percent",
        min_value=0,
        max_value=100,
        initial=20,
        help_text="They tell how much the place alone decides. The rest is shown in an order drawn at random.",
    )
    prompt = forms.ChoiceField(required=False, help_text="Its words; the guidelines of the round are put in.")
    canaries = forms.IntegerField(
        label="Battles with planted text",
        required=False,
        min_value=0,
        max_value=MOST_CANARIES,
        initial=0,
        help_text="Two calls each of every model: whether text that is planted in the document that had lost makes it "
        "win. They count in the caps, and in no score.",
    )
    audit_share = _slice()
    most = forms.IntegerField(
        label="Documents of each query at most (optional)",
        required=False,
        min_value=2,
        max_value=100_000,
        help_text="The first ones in the order of the round. Left empty, all that have a text.",
    )
    queries = forms.CharField(
        label="Only these queries (optional)",
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false"}),
        help_text="Their ids, one a line. Left empty, all of the round.",
    )
    cap_usd = cap_forms.in_dollars("Over all models together")
    cap_calls = cap_forms.in_calls()

    def __init__(self, *args: Any, round_: Round, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.round = round_
        self._providers: list[Provider] = list(round_.collection.providers.all())
        field = self.fields["models"]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101 (it is declared above)
        field.choices = list(models_of(self._providers))
        words = self.fields["prompt"]
        assert isinstance(words, forms.ChoiceField)  # noqa: S101 (it is declared above)
        words.choices = [(one.value, one.title) for one in prompts_kept.named(round_.collection, prompts_kept.BATTLE)]
        words.initial = PAIRWISE.name

    @property
    def choice(self) -> Choice:
        """What the verbs take."""
        cleaned = self.cleaned_data
        providers = {str(one.uuid): one for one in self._providers}
        chosen = [value.partition(APART) for value in cleaned["models"]]
        return Choice(
            [(providers[uuid], model) for uuid, _, model in chosen],
            cleaned["cycles"],
            cleaned["both"] / 100,
            cleaned["most"],
            [line.strip() for line in cleaned["queries"].splitlines() if line.strip()],
            self.round.seed,
            prompts_kept.find(self.round.collection, cleaned["prompt"] or PAIRWISE.name, prompts_kept.BATTLE),
            cleaned["canaries"] or 0,
            cleaned["audit_share"] / 100,
        )

    @property
    def caps(self) -> dict[str, Any]:
        """What the verb takes beside it."""
        return {"cap_usd": self.cleaned_data["cap_usd"], "cap_calls": self.cleaned_data["cap_calls"]}


class BattleFileForm(AssayForm):
    """Battles that were fought elsewhere."""

    file = forms.FileField(
        label="A file of battles",
        help_text="battles.jsonl, as assay zelo judge and the download here write it, or zbench’s ai_scores.json; "
        "20 MB at most. Every document has to be in this round; with an odd one nothing is taken.",
    )
    audit_share = _slice()


class GoOnForm(cap_forms.GoOnForm):
    """Other caps for battles that go on, and on how many of them planted text is tried."""

    canaries = cap_forms.planted_in_all(
        "Battles with planted text, in all",
        "Two calls each of every model: whether planted text makes the loser win.",
    )


class FurtherForm(AssayForm):
    """How many more battles."""

    number = forms.IntegerField(
        label="Of each query, at most",
        min_value=1,
        max_value=MOST_FURTHER,
        initial=5,
        help_text="Those whose outcome is the least certain between documents that are the least sure.",
    )


class GradesForm(AssayForm):
    """Which share of what people graded the cut points are learnt from."""

    share = forms.FloatField(
        label="Anchors, in percent",
        min_value=1,
        max_value=100,
        initial=50,
        help_text="Of the pairs that people graded outside of the audit slice, drawn at random.",
    )
