"""What may be typed into the pages of machine judges, their providers and prompts?"""

from __future__ import annotations

from typing import Any

from django import forms

from judgments import judging, prompts_kept
from judgments.core.errors import NotValid
from judgments.forms import AssayForm
from judgments.model_judges import MOST_EXAMPLES, Choice
from judgments.models import Collection, Provider, Round
from judgments.providers import PROTOCOLS

APART = "|"


class ProviderForm(AssayForm):
    """Whom a collection's judges may ask."""

    name = forms.CharField(max_length=120, help_text="What it is called here, for example: our vLLM.")
    protocol = forms.ChoiceField(help_text="How it wants to be asked.")
    base_url = forms.CharField(
        label="Address (optional)",
        required=False,
        max_length=500,
        help_text="Left empty, the makers’ own. For a server of yours, for example http://models.example.com:8000/v1.",
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
        "For example: judge-large, 2.50, 10. Without prices a judge is capped in calls alone.",
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
    """The models of a list with one a line: name, price read, price written.

    Examples
    --------
    >>> models_in("judge-large, 2.5, 10")
    [{'name': 'judge-large', 'price_in': 2.5, 'price_out': 10.0}]
    """
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, *prices = (part.strip() for part in line.split(","))
        try:
            read, written = (float(prices[0]), float(prices[1])) if prices else (None, None)
        except (ValueError, IndexError):
            said = f"Line {number}: write a name, or a name and two prices, with commas between."
            raise NotValid(said, {"models_offered": said}) from None
        found.append({"name": name, "price_in": read, "price_out": written})
    return found


def _of(provider: Provider) -> dict[str, Any]:
    lines = [
        ", ".join(
            [one["name"], *([] if one["price_in"] is None else [f"{one['price_in']:g}", f"{one['price_out']:g}"])]
        )
        for one in provider.models_offered
    ]
    plain = ("name", "protocol", "base_url", "prices_of", "concurrency", "per_minute", "tokens_per_minute", "timeout")
    return {**{name: getattr(provider, name) for name in plain}, "models": "\n".join(lines)}


class JudgeForm(AssayForm):
    """Which model is to judge a round, in which words, within which caps."""

    model = forms.ChoiceField(help_text="Of the collection’s providers.")
    prompt = forms.ChoiceField(help_text="In which words it is asked; the round’s scale and guidelines are put in.")
    cap_usd = forms.FloatField(
        label="Cap in dollars (optional)",
        required=False,
        min_value=0.01,
        max_value=1_000_000,
        help_text="It never spends more: what a question can cost at most is held back before it is asked.",
    )
    cap_calls = forms.IntegerField(
        label="Cap in calls (optional)",
        required=False,
        min_value=1,
        max_value=10_000_000,
        help_text="One of the two caps is needed.",
    )
    audit_share = forms.FloatField(
        label="Audit slice, in percent",
        min_value=0.1,
        max_value=100,
        initial=10,
        help_text="This share of all pairs, drawn at random, is for people whatever the machine says.",
    )
    canaries = forms.IntegerField(
        label="Canaries",
        min_value=0,
        max_value=judging.MOST_CANARIES,
        initial=30,
        help_text="On so many documents it is tried whether planted text talks the judge into a grade: two calls each.",
    )
    examples = forms.IntegerField(
        label="Examples shown to the model",
        min_value=0,
        max_value=MOST_EXAMPLES,
        initial=0,
        help_text="Frozen grades of people, never for a query of this round.",
    )
    snapshot = forms.ChoiceField(label="Examples from (optional)", required=False)
    probabilities = forms.BooleanField(
        label="Ask for the probabilities of the grades",
        required=False,
        help_text="Where the provider tells them: how sure the model was says which pairs people should see.",
    )

    def __init__(self, *args: Any, round_: Round, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.round = round_
        collection = round_.collection
        self._providers = list(collection.providers.all())
        self._choices("model", list(_models(self._providers)))
        self._choices("prompt", [(one.value, one.title) for one in prompts_kept.named(collection)])
        self._choices("snapshot", [("", "none"), *((str(one.uuid), one.name) for one in collection.snapshots.all())])

    def _choices(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 (they are declared above)
        field.choices = choices

    @property
    def choice(self) -> Choice:
        """What the verbs take as the judge."""
        cleaned = self.cleaned_data
        provider, _, model = cleaned["model"].partition(APART)
        snapshots = self.round.collection.snapshots
        return Choice(
            next(one for one in self._providers if str(one.uuid) == provider),
            model,
            prompts_kept.find(self.round.collection, cleaned["prompt"]),
            cleaned["examples"],
            snapshots.get(uuid=cleaned["snapshot"]) if cleaned["snapshot"] else None,
            self.round.seed,
            cleaned["probabilities"],
        )

    @property
    def caps(self) -> dict[str, Any]:
        """What the verb takes beside it."""
        cleaned = self.cleaned_data
        return {
            "cap_usd": cleaned["cap_usd"],
            "cap_calls": cleaned["cap_calls"],
            "audit_share": cleaned["audit_share"] / 100,
            "canaries": cleaned["canaries"],
        }


class GoOnForm(AssayForm):
    """Other caps for a run that goes on."""

    cap_usd = forms.FloatField(label="Cap in dollars", required=False, min_value=0.01, max_value=1_000_000)
    cap_calls = forms.IntegerField(label="Cap in calls", required=False, min_value=1, max_value=10_000_000)


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
        help_text="Places in braces are filled in: {query}, {scale} and {document} have to be there.",
    )
    note = forms.CharField(label="What is new (optional)", required=False, max_length=500)


class TryForm(AssayForm):
    """On which pairs, and by which model, words are tried."""

    round = forms.ChoiceField(label="Pairs of the round")
    model = forms.ChoiceField()
    pairs = forms.IntegerField(min_value=1, max_value=10, initial=3, help_text="Each is a call that costs money.")

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._providers = list(collection.providers.all())
        self._rounds = list(collection.rounds.all())
        for name, choices in (
            ("round", [(str(one.uuid), one.name) for one in self._rounds]),
            ("model", list(_models(self._providers))),
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
        }


def _models(providers: list[Provider]) -> Any:
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
        help_text="The lower end of the interval of how often people confirm it, on the audit slice.",
    )
