"""Form fields for round settings."""

from __future__ import annotations

from typing import Any

from django import forms

from judgments.models import Round
from judgments.rounds import settings as round_settings
from judgments.rounds.settings import (
    LONGEST_QUALIFICATION,
    NAMES,
    OPTIONAL,
    SETTINGS,
    RoundSettings,
    gate_coefficients,
)
from judgments.web.forms import AssayForm

# The suggested value if the scale is long enough: a difference of two is rarely a matter of opinion.
USUAL_EXTRA = 2


def setting_field(name: str, step: str = "any", **changes: Any) -> forms.Field:
    """Return the form field of a setting as `RoundSettings` declares it, with the changes of a page."""
    one = SETTINGS[name]
    about, limits = one.metadata, {}
    how = {"label": about["label"], "help_text": about["hint"], "required": name in round_settings.NEVER, **changes}
    if "low" in about:
        limits = {"min_value": about["low"], **({"max_value": about["high"]} if about["bounded"] else {})}
    if "int" in one.type:
        return forms.IntegerField(**limits, **how)
    if "float" in one.type:
        return forms.FloatField(**limits, **how, widget=forms.NumberInput(attrs={"step": step}))
    if name == "gate_coefficient":
        return forms.ChoiceField(**how)
    return forms.BooleanField(**how) if one.type == "bool" else forms.CharField(**how, max_length=LONGEST_QUALIFICATION)


class SettingsForm(type("SettingFields", (AssayForm,), {name: setting_field(name) for name in NAMES})):  # type: ignore[misc]
    """The settings of a round, without its pairs, scale, guidelines, raters and seed."""

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

    def some(self, part: str) -> list[Any]:
        """Return the bound fields of a part of the page."""
        return [self[name] for name in round_settings.names_of(part)]

    @property
    def about_raters(self) -> list[Any]:
        """The fields that decide which rater gets which pair, and how."""
        return self.some("raters")

    @property
    def about_quality(self) -> list[Any]:
        """The fields of rater checks and the agreement gate."""
        return self.some("quality")

    @property
    def opened(self) -> bool:
        """Whether an advanced field has an error or a value other than the default."""
        folded = [*self.about_raters, *self.about_quality]
        if any(bound.errors for bound in folded):
            return True
        usual = RoundSettings().as_dict()
        return any(bound.value() not in (usual[bound.name], None, "", str(usual[bound.name])) for bound in folded)


# Settings of pair assignment. Gold pairs and the agreement gate have their own pages.
HANDING_OUT = round_settings.names_of("extra", "raters")


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
