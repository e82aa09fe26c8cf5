"""Forms of the connector pages."""

from __future__ import annotations

from typing import Any

from django import forms

from assay.connectors import ConnectorKind, Setting
from assay.connectors.connector import DEEPEST
from assay.connectors.fetch import LONGEST_TIMEOUT, MOST_AT_ONCE, Plan
from judgments.web.forms import AssayForm
from pooling.models import Connector

LONGEST_SETTING = 20_000
USUAL = {"timeout": 10.0, "concurrency": Plan().concurrency}
# Paths of fields in a response; these fields are collapsed because the defaults fit most engines.
MAPPING = ("hits", "doc_id", "score", "title", "text", "url", "image", "fields")


class ConnectorForm(AssayForm):
    """Settings of a connector; the fields come from the declaration of its kind."""

    def __init__(self, *args: Any, kind: ConnectorKind, connector: Connector | None = None, **kwargs: Any) -> None:
        before = {**connector.settings, **_own(connector)} if connector else USUAL
        kwargs.setdefault("initial", {**{one.name: one.default for one in kind.settings}, **before})
        super().__init__(*args, **kwargs)
        self.kind, self.connector = kind, connector
        self.fields["name"] = forms.CharField(
            max_length=120, help_text="Shown in this collection, for example: live shop."
        )
        for setting in kind.settings:
            self.fields[setting.name] = _field(setting, sealed=bool(connector and connector.sealed))
        self.fields["timeout"] = forms.FloatField(
            label="Time limit in seconds",
            min_value=0.1,
            max_value=LONGEST_TIMEOUT,
            help_text="Applies to one query, from connecting to the last byte.",
        )
        self.fields["concurrency"] = forms.IntegerField(
            label="Queries at a time",
            min_value=1,
            max_value=MOST_AT_ONCE,
            help_text="More queries at a time are faster but put more load on the engine.",
        )
        for field in self.fields.values():
            field.error_messages["required"] = "Enter a value."

    @property
    def first(self) -> list[Any]:
        """Return the fields that are always visible."""
        return [bound for bound in self if bound.name not in MAPPING]

    @property
    def mapping(self) -> list[Any]:
        """Return the fields for paths in a response."""
        return [bound for bound in self if bound.name in MAPPING]

    @property
    def mapping_is_open(self) -> bool:
        """Return whether one of the mapping fields has errors or changes."""
        return any(bound.errors for bound in self.mapping)

    @property
    def given(self) -> dict[str, Any]:
        """Return the arguments of the actions in `pooling.connectors.connections`."""
        cleaned = dict(self.cleaned_data)
        own = {name: cleaned.pop(name) for name in ("name", "timeout", "concurrency")}
        return {**own, "given": cleaned}


class TryForm(AssayForm):
    """A query that tests the settings."""

    query = forms.CharField(max_length=500, help_text="The response is not stored.")


class FetchForm(AssayForm):
    """Name and depth of the run to fetch."""

    run_name = forms.CharField(label="Run name", max_length=120)
    depth = forms.IntegerField(
        label="Documents per query",
        min_value=1,
        max_value=DEEPEST,
        help_text="A pool uses the first 10 to 50; measure recall on 100 or more.",
    )


def _own(connector: Connector) -> dict[str, Any]:
    return {"name": connector.name, "timeout": connector.timeout, "concurrency": connector.concurrency}


def _field(setting: Setting, *, sealed: bool) -> forms.Field:
    needed = setting.required
    label = setting.title if needed or setting.default else f"{setting.title} (optional)"
    if setting.secret:
        hint = "A secret is stored. Leave this empty to keep it." if sealed else setting.description
        widget: forms.Widget = forms.PasswordInput(attrs={"autocomplete": "new-password"})
        return forms.CharField(
            label=setting.title if sealed else label,
            required=False,
            max_length=5_000,
            strip=False,
            help_text=hint,
            widget=widget,
        )
    if setting.choices:
        return forms.ChoiceField(
            label=label, choices=[(one, one) for one in setting.choices], help_text=setting.description
        )
    if setting.lines > 1:
        widget = forms.Textarea(attrs={"rows": setting.lines, "class": "mono", "spellcheck": "false"})
    else:
        widget = forms.TextInput(attrs={"spellcheck": "false"})
    return forms.CharField(
        label=label, required=needed, max_length=LONGEST_SETTING, help_text=setting.description, widget=widget
    )
