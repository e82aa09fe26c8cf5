"""Form fields for round settings."""

from __future__ import annotations

from typing import Any

from django import forms

from judgments import round_settings
from judgments.forms import AssayForm
from judgments.models import Round
from judgments.round_settings import LONGEST_QUALIFICATION, NAMES, OPTIONAL, RoundSettings, gate_coefficients

# Proposed, where the scale is long enough: two steps apart are seldom a matter of taste.
USUAL_EXTRA = 2


class SettingsForm(AssayForm):
    """Everything about a round beside its pairs, scale, guidelines, raters and seed.

    The bounds are those of `judgments.round_settings`, which has the last word: what it refuses stands at the field.
    """

    ratings_per_pair = forms.IntegerField(
        label="Ratings per pair",
        min_value=1,
        max_value=20,
        help_text="Two show how far raters agree; with one nobody knows.",
    )
    overlap = forms.FloatField(
        label="Share of the pairs that get them",
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="1 is every pair; 0.2 every fifth, drawn by the seed. The others get one rating.",
    )
    extra_at = forms.IntegerField(
        label="Call in another rater when grades lie so many steps apart",
        required=False,
        min_value=1,
        help_text="The label then rests on three people instead of two who differ. Empty: nobody is called in.",
    )
    extra_most = forms.IntegerField(
        label="More raters for a pair, at most", required=False, min_value=1, help_text="One is usual."
    )
    breadth_first = forms.BooleanField(
        label="Every pair once before any a second time",
        required=False,
        help_text="You see early what is relevant. Without it each query is finished first, which is easier to rate.",
    )
    as_list = forms.BooleanField(
        label="Show the documents of a query as a list",
        required=False,
        help_text="For short ones, such as products. Each rater can choose otherwise.",
    )
    walk_in = forms.BooleanField(
        label="Raters of this collection may come by unasked",
        required=False,
        help_text="They find the round under their work. Without it only those rate who were asked.",
    )
    qualification = forms.CharField(
        label="Only raters who are fit for (optional)",
        required=False,
        max_length=LONGEST_QUALIFICATION,
        help_text="A word from the members page, for example medicine.",
    )
    by_language = forms.BooleanField(
        label="Only queries in languages that a rater reads",
        required=False,
        help_text="By the language of the query and those on the members page.",
    )
    repeat_share = forms.FloatField(
        label="Share of a rater’s own pairs shown again",
        required=False,
        min_value=0,
        max_value=0.5,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Tells whether somebody agrees with themselves. 0.05 is every twentieth; it costs as many ratings.",
    )
    gold_every = forms.IntegerField(
        label="One pair of known grade in so many",
        required=False,
        min_value=2,
        max_value=1000,
        help_text="Mixed in unseen, from the pairs that you add on the round’s page. Empty: none.",
    )
    pass_mark = forms.FloatField(
        label="Calibration first: share that must be right",
        required=False,
        min_value=0.01,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Raters grade known pairs, are told what is right and why, and begin once they pass. Empty: none.",
    )
    pass_within = forms.IntegerField(
        label="So many steps off still count as right", required=False, min_value=0, help_text="0 is exactly right."
    )
    gate_coefficient = forms.ChoiceField(label="The gate’s coefficient", required=False)
    gate_threshold = forms.FloatField(
        label="Agreement must reach",
        required=False,
        min_value=-1,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Below it labels cannot be frozen, unless you say why. 0.6 is usual.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["gate_coefficient"].choices = [(name, name) for name in gate_coefficients()]

    @property
    def settings(self) -> RoundSettings:
        """What was typed; a field that was left empty keeps its usual value, or asks for nothing where it may."""
        typed = {name: self.cleaned_data.get(name) for name in NAMES}
        return RoundSettings(
            **{name: value for name, value in typed.items() if name in OPTIONAL or value not in (None, "")}
        )

    def some(self, names: tuple[str, ...]) -> list[Any]:
        """The bound fields of these names, for a template."""
        return [self[name] for name in names]

    @property
    def about_raters(self) -> list[Any]:
        """What decides who gets which pair, and how."""
        return self.some(("breadth_first", "as_list", "walk_in", "by_language", "qualification"))

    @property
    def about_quality(self) -> list[Any]:
        """What is asked beside the ratings, and what the agreement is held against."""
        names = ("pass_mark", "pass_within", "gold_every", "repeat_share", "gate_coefficient", "gate_threshold")
        return self.some(names)

    @property
    def opened(self) -> bool:
        """Whether something in the folded part needs another look, or is not as usual."""
        folded = [*self.about_raters, *self.about_quality]
        if any(bound.errors for bound in folded):
            return True
        usual = RoundSettings().as_dict()
        return any(bound.value() not in (usual[bound.name], None, "", str(usual[bound.name])) for bound in folded)


# How pairs are handed out. Known grades and the gate stand on pages of their own, beside what they are about.
HANDING_OUT = (
    "extra_at",
    "extra_most",
    "breadth_first",
    "as_list",
    "walk_in",
    "by_language",
    "qualification",
)


class HandingOutForm(SettingsForm):
    """Those settings of a round that is there which say who gets which pair, and how."""

    def __init__(self, round_: Round, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("initial", {name: getattr(round_, name) for name in HANDING_OUT})
        super().__init__(*args, **kwargs)
        self.round = round_
        self.fields = {name: self.fields[name] for name in HANDING_OUT}
        # What is sent all the same, from a page that was open since before, the verb refuses in words.
        for name in () if self.is_bound else round_settings.fixed(round_):
            if name in self.fields:
                self.fields[name].disabled = True

    @property
    def changes(self) -> dict[str, Any]:
        """What `round_settings.change` takes; a number that was left empty stays, unless it may be empty."""
        typed = {name: self.cleaned_data.get(name) for name in HANDING_OUT}
        return {name: value for name, value in typed.items() if name in OPTIONAL or value is not None}
