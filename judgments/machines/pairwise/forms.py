"""Forms of the pages for pairwise comparisons."""

from __future__ import annotations

from typing import Any

from django import forms

from assay.llm.judges.pairwise import PAIRWISE
from judgments.machines import caps_form
from judgments.machines.machine_runs import MOST_CANARIES
from judgments.machines.pairwise.pair_selection import MOST_CYCLES, MOST_FURTHER, Choice
from judgments.machines.prompts import prompts
from judgments.machines.providers.forms import APART, models_of
from judgments.models import Provider, Round
from judgments.web.forms import AssayForm


def _slice() -> forms.FloatField:
    return forms.FloatField(
        label="Audit slice, in percent",
        min_value=0.1,
        max_value=100,
        initial=10,
        help_text="People always judge this random share of the pairs. Grades from the comparisons are "
        "calibrated on it.",
    )


class BattleForm(AssayForm):
    """Settings of a run of pairwise comparisons."""

    models = forms.MultipleChoiceField(
        label="Models",
        widget=forms.CheckboxSelectMultiple,
        help_text="Each model answers every comparison. Models from different vendors share fewer errors.",
    )
    cycles = forms.IntegerField(
        min_value=1,
        max_value=MOST_CYCLES,
        initial=4,
        help_text="Each cycle compares a document with two random others. With two to four cycles, the "
        "result is nearly the same as with all pairs.",
    )
    both = forms.FloatField(
        label="Comparisons shown in both orders, in percent",
        min_value=0,
        max_value=100,
        initial=20,
        help_text="Measures the effect of the order. The other comparisons are shown in random order.",
    )
    prompt = forms.ChoiceField(required=False, help_text="The round’s guidelines are inserted into the prompt.")
    canaries = forms.IntegerField(
        label="Prompt-injection probes",
        required=False,
        min_value=0,
        max_value=MOST_CANARIES,
        initial=0,
        help_text="Tests whether injected text makes the losing document win. Each probe requires two calls per "
        "model. Probes count toward the caps but not toward scores.",
    )
    audit_share = _slice()
    most = forms.IntegerField(
        label="Maximum documents per query (optional)",
        required=False,
        min_value=2,
        max_value=100_000,
        help_text="Takes the first documents in the order of the round. Leave empty for all documents with a text.",
    )
    queries = forms.CharField(
        label="Only these queries (optional)",
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false"}),
        help_text="Query ids, one per line. Leave empty for all queries of the round.",
    )
    cap_usd = caps_form.in_dollars("The cap covers all models together")
    cap_calls = caps_form.in_calls()

    def __init__(self, *args: Any, round_: Round, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.round = round_
        self._providers: list[Provider] = list(round_.collection.providers.all())
        field = self.fields["models"]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101 (it is declared above)
        field.choices = list(models_of(self._providers))
        words = self.fields["prompt"]
        assert isinstance(words, forms.ChoiceField)  # noqa: S101 (it is declared above)
        words.choices = [(one.value, one.title) for one in prompts.named(round_.collection, prompts.BATTLE)]
        words.initial = PAIRWISE.name

    @property
    def choice(self) -> Choice:
        """Return the settings as the actions take them."""
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
            prompts.find(self.round.collection, cleaned["prompt"] or PAIRWISE.name, prompts.BATTLE),
            cleaned["canaries"] or 0,
            cleaned["audit_share"] / 100,
        )

    @property
    def caps(self) -> dict[str, Any]:
        """Return the caps as keyword arguments."""
        return {"cap_usd": self.cleaned_data["cap_usd"], "cap_calls": self.cleaned_data["cap_calls"]}


class BattleFileForm(AssayForm):
    """Upload of comparisons made elsewhere."""

    file = forms.FileField(
        label="File of comparisons",
        help_text="battles.jsonl from assay zelo judge or from the download in a round, or zbench’s ai_scores.json; "
        "at most 20 MB. If a document is not in this round, nothing is imported.",
    )
    audit_share = _slice()


class GoOnForm(caps_form.GoOnForm):
    """New caps and number of probes when a run continues."""

    canaries = caps_form.planted_in_all(
        "Total prompt-injection probes",
        "Tests whether injected text makes the losing document win. Each probe requires two calls per model.",
    )


class FurtherForm(AssayForm):
    """Number of further comparisons."""

    number = forms.IntegerField(
        label="Maximum comparisons per query",
        min_value=1,
        max_value=MOST_FURTHER,
        initial=5,
        help_text="Assay chooses comparisons with uncertain results between documents with uncertain scores.",
    )


class GradesForm(AssayForm):
    """Share of the human grades from which the cut points are learned."""

    share = forms.FloatField(
        label="Anchors, in percent",
        min_value=1,
        max_value=100,
        initial=50,
        help_text="The grade thresholds are learned from this random share of the pairs that people graded outside "
        "the audit slice.",
    )
