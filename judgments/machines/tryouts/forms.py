"""Form to try a prompt."""

from __future__ import annotations

from typing import Any

from django import forms

from assay.core.errors import NotValid
from judgments.machines.judge_runs import expected_answers
from judgments.machines.providers.forms import APART, models_of
from judgments.models import Collection
from judgments.web.forms import AssayForm


class TryForm(AssayForm):
    """Form to try a prompt on some pairs with a model."""

    round = forms.ChoiceField(label="Pairs of the round")
    model = forms.ChoiceField()
    pairs = forms.IntegerField(min_value=1, max_value=10, initial=3, help_text="Each pair is one paid call.")
    expected = forms.CharField(
        label="Expected answers (for prompts that compare with them)",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono", "spellcheck": "false"}),
        help_text='JSON such as {"q1": ["an answer"]}, or CSV with the header query_id,expected.',
    )

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._providers = list(collection.providers.all())
        self._rounds = list(collection.rounds.all())
        for name, choices in (
            ("round", [(str(one.uuid), one.name) for one in self._rounds]),
            ("model", list(models_of(self._providers))),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101 (they are declared above)
            field.choices = choices

    @property
    def options(self) -> dict[str, Any]:
        """Return the arguments of the action."""
        provider, _, model = self.cleaned_data["model"].partition(APART)
        return {
            "round_": next(one for one in self._rounds if str(one.uuid) == self.cleaned_data["round"]),
            "provider": next(one for one in self._providers if str(one.uuid) == provider),
            "model": model,
            "number": self.cleaned_data["pairs"],
            "expected": self.cleaned_data["expected"],
        }

    def clean_expected(self) -> expected_answers.Expected:
        """Return the expected answers by query id; empty if none were entered."""
        typed = self.cleaned_data["expected"].replace("\r\n", "\n")
        try:
            return expected_answers.read(typed) if typed.strip() else {}
        except NotValid as error:
            raise forms.ValidationError(error.fields.get("expected", str(error))) from error
