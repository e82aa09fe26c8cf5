"""Form for a prompt."""

from __future__ import annotations

from django import forms

from judgments.machines.prompts import prompts
from judgments.web.forms import AssayForm


class PromptForm(AssayForm):
    """Form for a prompt."""

    name = forms.CharField(
        max_length=80, help_text="If a prompt has this name already, the text becomes its next version."
    )
    system = forms.CharField(
        label="System prompt (optional)",
        required=False,
        max_length=prompts.LONGEST,
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    prompt = forms.CharField(
        max_length=prompts.LONGEST,
        widget=forms.Textarea(attrs={"rows": 22, "class": "mono"}),
        help_text="Required placeholders: {query}, {scale} and {document}. Comparisons require {query}, {first} and "
        "{second} instead. Expected answers require {query}, {expected} and {document}.",
    )
    asks = forms.ChoiceField(
        label="Kind of answer",
        required=False,
        choices=[
            ("", "Detect from placeholders"),
            *((name, what.capitalize()) for name, what in prompts.ASKS.items()),
        ],
        help_text="“An answer from the document” can’t be detected, because its prompt needs only {query} and "
        "{document}.",
    )
    note = forms.CharField(label="Changes (optional)", required=False, max_length=500)
