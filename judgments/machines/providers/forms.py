"""Form for a model provider, and its models as a list of lines and as choices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms

from assay.core.errors import NotValid
from assay.llm.providers import PROTOCOLS
from assay.llm.providers.protocol import WITHOUT
from judgments.models import Provider
from judgments.web.forms import AssayForm

APART = "|"
# The words for a reasoning model in the list of models; the last two are those of earlier versions.
REASONING = {"reasoning": True, "no reasoning": False, "thinks": True, "does not think": False}


class ProviderForm(AssayForm):
    """Form for a model provider of a collection."""

    name = forms.CharField(max_length=120, help_text="For example: our vLLM.")
    protocol = forms.ChoiceField(help_text="The API protocol of the provider.")
    base_url = forms.CharField(
        label="Address (optional)",
        required=False,
        max_length=500,
        help_text="Leave empty for the vendor’s address. An address of your own server looks like "
        "http://models.example.com:8000/v1. Azure addresses end in ?api-version=…",
        widget=forms.TextInput(attrs={"spellcheck": "false"}),
    )
    key = forms.CharField(
        label="API key",
        required=False,
        max_length=5_000,
        help_text="Stored encrypted and never shown again. Leave it empty if the server needs none.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    models = forms.CharField(
        label="Models",
        max_length=20_000,
        help_text="One model per line: its name, then its prices in dollars per million input and output tokens, for "
        "example judge-large, 2.50, 10. Without prices, you can cap only the number of calls. Then add any options "
        "that the model needs: reasoning, no reasoning, 4000 tokens, no schema, no temperature, no seed, "
        "no probabilities.",
        widget=forms.Textarea(attrs={"rows": 4, "class": "mono", "spellcheck": "false"}),
    )
    prices_of = forms.DateField(
        label="Date of the prices (optional)",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text="Prices change, so this date is shown with every cost.",
    )
    concurrency = forms.IntegerField(label="Concurrent calls", min_value=1, max_value=256, initial=8)
    per_minute = forms.IntegerField(
        label="Calls per minute (optional)", required=False, min_value=1, max_value=1_000_000
    )
    tokens_per_minute = forms.IntegerField(
        label="Tokens per minute (optional)", required=False, min_value=1, max_value=2_000_000_000
    )
    timeout = forms.FloatField(label="Time limit in seconds", min_value=1, max_value=600, initial=60)

    def __init__(self, *args: Any, provider: Provider | None = None, **kwargs: Any) -> None:
        if provider is not None:
            kwargs.setdefault("initial", _of(provider))
        super().__init__(*args, **kwargs)
        chosen = self.fields["protocol"]
        assert isinstance(chosen, forms.ChoiceField)  # noqa: S101 (it is declared above)
        chosen.choices = [(name, PROTOCOLS[name].title) for name in PROTOCOLS]
        if provider is not None and provider.sealed:
            self.fields["key"].help_text = "A key is stored. Leave this empty to keep it."

    @property
    def given(self) -> dict[str, Any]:
        """Return the arguments of the actions."""
        cleaned = dict(self.cleaned_data)
        cleaned["models_offered"] = models_in(cleaned.pop("models"))
        key = cleaned.pop("key")
        return {"given": cleaned, "key": key}

    def tell(self, error: Any) -> None:
        """Show errors about the list of models at its field."""
        fields = getattr(error, "fields", {})
        if "models_offered" in fields:
            fields["models"] = fields.pop("models_offered")
        super().tell(error)


def models_in(text: str) -> list[dict[str, Any]]:
    """Parse a list of models, one per line: name, input price, output price, options."""
    models = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, *rest = (part.strip() for part in line.split(","))
        how = {one: _setting(one) for one in rest}
        prices = [one for one in rest if how[one] is None]
        try:
            read, written = (float(one) for one in prices) if prices else (None, None)
        except ValueError:
            problem = (
                f"Line {number}: enter a name, or a name and two prices, and then the options, separated by commas."
            )
            raise NotValid(problem, "models_offered") from None
        row: dict[str, Any] = {"name": name, "price_in": read, "price_out": written}
        for key, value in filter(None, how.values()):
            row[key] = [*row.get(key, ()), value] if key == "leave_out" else value
        models.append(row)
    return models


def _setting(word: str) -> tuple[str, Any] | None:
    """Parse one option of a model; None if it is unknown."""
    first, _, second = word.lower().partition(" ")
    if word.lower() in REASONING:
        return "thinks", REASONING[word.lower()]
    if first == "no" and second in WITHOUT:
        return "leave_out", second
    return ("most_tokens", int(first)) if second == "tokens" and first.isascii() and first.isdigit() else None


def _line(one: dict[str, Any]) -> str:
    """Return a model as a line of the list."""
    parts = [one["name"], *([] if one["price_in"] is None else [f"{one['price_in']:g}", f"{one['price_out']:g}"])]
    thinks, most = one.get("thinks"), one.get("most_tokens")
    parts += [] if thinks is None else ["reasoning" if thinks else "no reasoning"]
    parts += [] if most is None else [f"{most} token{'' if most == 1 else 's'}"]
    return ", ".join(parts + [f"no {name}" for name in one.get("leave_out", ())])


def _of(provider: Provider) -> dict[str, Any]:
    lines = [_line(one) for one in provider.models_offered]
    plain = ("name", "protocol", "base_url", "prices_of", "concurrency", "per_minute", "tokens_per_minute", "timeout")
    return {**{name: getattr(provider, name) for name in plain}, "models": "\n".join(lines)}


def models_of(providers: list[Provider]) -> Iterator[tuple[str, str]]:
    """Yield every model of the providers as a value and a label."""
    for provider in providers:
        for one in provider.models_offered:
            price = "" if one["price_in"] is None else f" (${one['price_in']:g} / ${one['price_out']:g})"
            yield f"{provider.uuid}{APART}{one['name']}", f"{provider}: {one['name']}{price}"
