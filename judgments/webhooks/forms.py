"""Form of a webhook."""

from __future__ import annotations

from django import forms

from judgments.events.kinds import KINDS, WEBHOOK_EVENTS
from judgments.web.forms import AssayForm
from judgments.webhooks.sending import LONGEST_ADDRESS


class WebhookForm(AssayForm):
    address = forms.CharField(
        max_length=LONGEST_ADDRESS,
        help_text="For example https://hooks.example.com/assay. Assay sends a POST request with JSON to it.",
        widget=forms.TextInput(attrs={"spellcheck": "false", "inputmode": "url"}),
    )
    description = forms.CharField(
        label="Description (optional)",
        required=False,
        max_length=200,
        help_text="For example: the team’s chat channel.",
    )
    events = forms.MultipleChoiceField(
        choices=[(name, f"{KINDS[name].title} ({name})") for name in WEBHOOK_EVENTS],
        widget=forms.CheckboxSelectMultiple,
    )
