"""Form fields for round settings."""

from __future__ import annotations

from typing import Any

from django import forms

from judgments.models import Round
from judgments.rounds import settings as round_settings
from judgments.rounds.settings import LONGEST_QUALIFICATION, NAMES, OPTIONAL, RoundSettings, gate_coefficients
from judgments.web.forms import AssayForm

# The suggested value if the scale is long enough: a difference of two is rarely a matter of opinion.
USUAL_EXTRA = 2


class SettingsForm(AssayForm):
    """The settings of a round, without its pairs, scale, guidelines, raters and seed."""

    ratings_per_pair = forms.IntegerField(
        label="Ratings per pair",
        min_value=1,
        max_value=20,
        help_text="Agreement needs at least two ratings per pair.",
    )
    overlap = forms.FloatField(
        label="Share of pairs with several ratings",
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="1 means every pair, 0.2 every fifth, drawn with the seed. The other pairs get one rating.",
    )
    extra_at = forms.IntegerField(
        label="Add a rater when grades differ by",
        required=False,
        min_value=1,
        help_text="Conflicting pairs then get a third grade. Leave it empty to add no raters.",
    )
    extra_most = forms.IntegerField(
        label="Maximum extra raters per pair", required=False, min_value=1, help_text="Usually 1."
    )
    breadth_first = forms.BooleanField(
        label="Rate every pair once before second ratings",
        required=False,
        help_text="Shows relevant documents early. Otherwise raters finish one query at a time, which is easier.",
    )
    as_list = forms.BooleanField(
        label="Show the documents of a query as a list",
        required=False,
        help_text="Suits short documents such as products. Each rater can change this.",
    )
    walk_in = forms.BooleanField(
        label="Raters of this collection can join",
        required=False,
        help_text="The round appears on their home page. Otherwise only invited raters can rate.",
    )
    qualification = forms.CharField(
        label="Required qualification (optional)",
        required=False,
        max_length=LONGEST_QUALIFICATION,
        help_text="A qualification from the Members page, for example medicine.",
    )
    by_language = forms.BooleanField(
        label="Match queries to the languages a rater reads",
        required=False,
        help_text="Uses the language of the query and the languages on the Members page.",
    )
    repeat_share = forms.FloatField(
        label="Share of repeats",
        required=False,
        min_value=0,
        max_value=0.5,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Shows a rater's own pairs again to measure self-consistency. 0.05 adds 5% more ratings.",
    )
    gold_every = forms.IntegerField(
        label="Pairs per hidden gold pair",
        required=False,
        min_value=2,
        max_value=1000,
        help_text="With 20, one in 20 pairs is a gold pair, which raters can’t recognize. Leave it empty for none.",
    )
    pass_mark = forms.FloatField(
        label="Qualification: required share correct",
        required=False,
        min_value=0.01,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Raters grade gold pairs with feedback and can start after they pass. Leave it empty for none.",
    )
    pass_within = forms.IntegerField(
        label="Difference that still counts as correct",
        required=False,
        min_value=0,
        help_text="0 requires the exact grade.",
    )
    gate_coefficient = forms.ChoiceField(label="Coefficient of the agreement gate", required=False)
    gate_threshold = forms.FloatField(
        label="Agreement must reach",
        required=False,
        min_value=-1,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Freezing labels below it needs a reason. Usually 0.6.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["gate_coefficient"].choices = [(name, name) for name in gate_coefficients()]

    @property
    def settings(self) -> RoundSettings:
        """The settings as entered; empty fields keep their default."""
        typed = {name: self.cleaned_data.get(name) for name in NAMES}
        return RoundSettings(
            **{name: value for name, value in typed.items() if name in OPTIONAL or value not in (None, "")}
        )

    def some(self, names: tuple[str, ...]) -> list[Any]:
        """Return the bound fields of these names, for a template."""
        return [self[name] for name in names]

    @property
    def about_raters(self) -> list[Any]:
        """The fields that decide which rater gets which pair, and how."""
        return self.some(("breadth_first", "as_list", "walk_in", "by_language", "qualification"))

    @property
    def about_quality(self) -> list[Any]:
        """The fields of rater checks and the agreement gate."""
        names = ("pass_mark", "pass_within", "gold_every", "repeat_share", "gate_coefficient", "gate_threshold")
        return self.some(names)

    @property
    def opened(self) -> bool:
        """Whether an advanced field has an error or a value other than the default."""
        folded = [*self.about_raters, *self.about_quality]
        if any(bound.errors for bound in folded):
            return True
        usual = RoundSettings().as_dict()
        return any(bound.value() not in (usual[bound.name], None, "", str(usual[bound.name])) for bound in folded)


# Settings of pair assignment. Gold pairs and the agreement gate have their own pages.
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
    """The settings of an existing round that decide which rater gets which pair, and how."""

    def __init__(self, round_: Round, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("initial", {name: getattr(round_, name) for name in HANDING_OUT})
        super().__init__(*args, **kwargs)
        self.round = round_
        self.fields = {name: self.fields[name] for name in HANDING_OUT}
        # `round_settings.change` refuses changes to these from a page that was opened earlier.
        for name in () if self.is_bound else round_settings.fixed(round_):
            if name in self.fields:
                self.fields[name].disabled = True

    @property
    def changes(self) -> dict[str, Any]:
        """The changes for `round_settings.change`; an empty number is left out unless it may be empty."""
        typed = {name: self.cleaned_data.get(name) for name in HANDING_OUT}
        return {name: value for name, value in typed.items() if name in OPTIONAL or value is not None}
