"""Forms for model providers, prompts, and the caps and auto-acceptance of machine judges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms

from judgments import cap_forms, expected_answers, judge_kinds, model_judges, prompts_kept
from judgments.core.errors import NotValid
from judgments.forms import AssayForm
from judgments.models import Collection, JudgeRun, Provider
from judgments.providers import PROTOCOLS
from judgments.providers.protocol import WITHOUT

APART = "|"


class ProviderForm(AssayForm):
    """Whom a collection's judges may ask."""

    name = forms.CharField(max_length=120, help_text="What it is called here, for example: our vLLM.")
    protocol = forms.ChoiceField(help_text="How it wants to be asked.")
    base_url = forms.CharField(
        label="Address (optional)",
        required=False,
        max_length=500,
        help_text="Left empty, the makers’ own. For a server of yours, for example http://models.example.com:8000/v1. "
        "Azure’s ends in ?api-version=…",
        widget=forms.TextInput(attrs={"spellcheck": "false"}),
    )
    key = forms.CharField(
        label="Key",
        required=False,
        max_length=5_000,
        help_text="Kept encrypted, and shown to nobody again. Leave it empty where the server wants none.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    models = forms.CharField(
        label="Models",
        max_length=20_000,
        help_text="One a line: its name as the provider spells it, then dollars for a million tokens read and written. "
        "For example: judge-large, 2.50, 10. Without prices a judge is capped in calls alone. Behind that, where a "
        "model wants it so: thinks, 4000 tokens, no schema, no temperature, no seed, no probabilities.",
        widget=forms.Textarea(attrs={"rows": 4, "class": "mono", "spellcheck": "false"}),
    )
    prices_of = forms.DateField(
        label="Prices looked up on (optional)",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text="Prices change: this day stands beside every cost.",
    )
    concurrency = forms.IntegerField(label="Questions at a time", min_value=1, max_value=256, initial=8)
    per_minute = forms.IntegerField(
        label="Questions a minute (optional)", required=False, min_value=1, max_value=1_000_000
    )
    tokens_per_minute = forms.IntegerField(
        label="Tokens a minute (optional)", required=False, min_value=1, max_value=2_000_000_000
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
            self.fields["key"].help_text = "One is kept. Leave this empty to keep it."

    @property
    def given(self) -> dict[str, Any]:
        """What the verbs take."""
        cleaned = dict(self.cleaned_data)
        cleaned["models_offered"] = models_in(cleaned.pop("models"))
        key = cleaned.pop("key")
        return {"given": cleaned, "key": key}

    def tell(self, error: Any) -> None:
        """What is said of the list of models stands at its field."""
        fields = getattr(error, "fields", {})
        if "models_offered" in fields:
            fields["models"] = fields.pop("models_offered")
        super().tell(error)


def models_in(text: str) -> list[dict[str, Any]]:
    """The models of a list with one a line: name, price read, price written, and how it wants to be asked.

    Examples
    --------
    >>> models_in("judge-large, 2.5, 10")
    [{'name': 'judge-large', 'price_in': 2.5, 'price_out': 10.0}]
    >>> models_in("ours, thinks, 4000 tokens, no schema")[0]["leave_out"]
    ['schema']
    """
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, *rest = (part.strip() for part in line.split(","))
        how = {one: _setting(one) for one in rest}
        prices = [one for one in rest if how[one] is None]
        try:
            read, written = (float(one) for one in prices) if prices else (None, None)
        except ValueError:
            said = f"Line {number}: write a name, or a name and two prices, with commas between; then how it is asked."
            raise NotValid(said, {"models_offered": said}) from None
        row: dict[str, Any] = {"name": name, "price_in": read, "price_out": written}
        for key, value in filter(None, how.values()):
            row[key] = [*row.get(key, ()), value] if key == "leave_out" else value
        found.append(row)
    return found


def _setting(word: str) -> tuple[str, Any] | None:
    """One word on how a model is asked; None where it is none."""
    first, _, second = word.lower().partition(" ")
    if word.lower() in ("thinks", "does not think"):
        return "thinks", word.lower() == "thinks"
    if first == "no" and second in WITHOUT:
        return "leave_out", second
    return ("most_tokens", int(first)) if second == "tokens" and first.isascii() and first.isdigit() else None


def _line(one: dict[str, Any]) -> str:
    """A model as it is typed."""
    told = [one["name"], *([] if one["price_in"] is None else [f"{one['price_in']:g}", f"{one['price_out']:g}"])]
    thinks, most = one.get("thinks"), one.get("most_tokens")
    told += [] if thinks is None else ["thinks" if thinks else "does not think"]
    told += [] if most is None else [f"{most} token{'' if most == 1 else 's'}"]
    return ", ".join(told + [f"no {name}" for name in one.get("leave_out", ())])


def _of(provider: Provider) -> dict[str, Any]:
    lines = [_line(one) for one in provider.models_offered]
    plain = ("name", "protocol", "base_url", "prices_of", "concurrency", "per_minute", "tokens_per_minute", "timeout")
    return {**{name: getattr(provider, name) for name in plain}, "models": "\n".join(lines)}


class GoOnForm(cap_forms.GoOnForm):
    """Other caps for a judge that goes on, and on how many documents planted text is tried."""

    canaries = cap_forms.planted_in_all(
        "Canaries, in all", "Two calls each: whether planted text talks the judge into a grade."
    )


def go_on_form(run: JudgeRun | None) -> GoOnForm | None:
    """The form for a run, with the fields that it can use: caps and canaries are for judges that ask a model."""
    if run is None:
        return None
    form = GoOnForm.of(run)
    if not model_judges.asks_a_model(run.judge):
        form.fields.clear()
    elif not judge_kinds.says_grades(run.judge.kind):
        del form.fields["canaries"]
    return form


class PromptForm(AssayForm):
    """The words of a prompt."""

    name = forms.CharField(max_length=80, help_text="Under a name that is there already this becomes its next version.")
    system = forms.CharField(
        label="Who the model is to be (optional)",
        required=False,
        max_length=prompts_kept.LONGEST,
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    prompt = forms.CharField(
        max_length=prompts_kept.LONGEST,
        widget=forms.Textarea(attrs={"rows": 22, "class": "mono"}),
        help_text="Places in braces are filled in: {query}, {scale} and {document} have to be there; for battles "
        "{query}, {first} and {second}; for an expected answer {query}, {expected} and {document}.",
    )
    asks = forms.ChoiceField(
        label="What they ask for",
        required=False,
        choices=[
            ("", "What their places say"),
            *((name, what.capitalize()) for name, what in prompts_kept.ASKS.items()),
        ],
        help_text="An answer, for the usefulness to a system, has to be chosen: it needs {query} and {document} alone.",
    )
    note = forms.CharField(label="What is new (optional)", required=False, max_length=500)


class TryForm(AssayForm):
    """On which pairs, and by which model, words are tried."""

    round = forms.ChoiceField(label="Pairs of the round")
    model = forms.ChoiceField()
    pairs = forms.IntegerField(min_value=1, max_value=10, initial=3, help_text="Each is a call that costs money.")
    expected = forms.CharField(
        label="Expected answers (where words are held against them)",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono", "spellcheck": "false"}),
        help_text='JSON such as {"q1": ["an answer"]}, or CSV whose first line reads query_id,expected.',
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
    def asked(self) -> dict[str, Any]:
        """What the verb takes."""
        provider, _, model = self.cleaned_data["model"].partition(APART)
        return {
            "round_": next(one for one in self._rounds if str(one.uuid) == self.cleaned_data["round"]),
            "provider": next(one for one in self._providers if str(one.uuid) == provider),
            "model": model,
            "number": self.cleaned_data["pairs"],
            "expected": self.cleaned_data["expected"],
        }

    def clean_expected(self) -> expected_answers.Expected:
        """Answers by query id; none where nothing was typed."""
        typed = self.cleaned_data["expected"].replace("\r\n", "\n")
        try:
            return expected_answers.read(typed) if typed.strip() else {}
        except NotValid as error:
            raise forms.ValidationError(error.fields.get("expected", str(error))) from error


def models_of(providers: list[Provider]) -> Iterator[tuple[str, str]]:
    """Every model of the providers, as a form names it and as people read it."""
    for provider in providers:
        for one in provider.models_offered:
            price = "" if one["price_in"] is None else f" (${one['price_in']:g} / ${one['price_out']:g})"
            yield f"{provider.uuid}{APART}{one['name']}", f"{provider}: {one['name']}{price}"


class AcceptForm(AssayForm):
    """From when on a judge's lowest grade may stand."""

    bound = forms.FloatField(
        label="At least, in percent",
        min_value=50,
        max_value=99.9,
        initial=95,
        help_text="So many of the pairs that stand are not relevant at least, going by the audit slice, at 95 % over "
        "all judges and all times that it is asked for.",
    )
