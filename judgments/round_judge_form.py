"""Form to add a machine judge to a round, with only the fields that its kind uses."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from judgments import cap_forms, ensembles, expected_answers, grants, machine_runs, model_judges, prompts_kept
from judgments.core.errors import NotValid
from judgments.core.parameters import Parameter
from judgments.forms import AssayForm
from judgments.judge_choice import WARMEST, Choice
from judgments.judge_forms import APART, models_of
from judgments.judge_kinds import GRADED, Kind
from judgments.judges.ensemble import RULES
from judgments.model_judges import MOST_EXAMPLES
from judgments.models import Collection, Judge, Provider, Round
from judgments.textmetrics import TEXT_METRICS
from judgments.upload_reading import read_at_once

FOLDED = ("examples", "snapshot", "probabilities", "temperature")


class JudgeForm(AssayForm):
    """Which judge is to judge a round, told what, within which caps."""

    audit_share = forms.FloatField(
        label="Audit slice, in percent",
        min_value=0.1,
        max_value=100,
        initial=10,
        help_text="This share of all pairs, drawn at random, is for people whatever the machine says.",
    )

    def __init__(self, *args: Any, round_: Round, kind: Kind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.round, self.kind = round_, kind
        self._providers: list[Provider] = list(round_.collection.providers.all())
        # Named by who is asked first, the slice last.
        own: dict[str, forms.Field] = {}
        if kind.asks == "model":
            own |= {"model": _choose("Model", list(models_of(self._providers)), "Of the collection’s providers.")}
        if (asking := prompts_kept.of_kind(kind.name)) is not None:
            own |= _words(round_, asking)
        if kind.asks == "judges":
            own |= {"judges": self._judges()}
        if kind.needs_expected:
            own |= _expected()
        if kind.says == "yes":
            own |= {"yes": _yes(round_)}
        if kind.says == "usefulness":
            own |= {"text_metric": _metrics()}
        own |= {one.name: _parameter(one, round_.collection) for one in kind.parameters if not one.is_list}
        if kind.asks == "model":
            own |= _caps() | ({"canaries": _canaries()} if kind.says != "usefulness" else {})
            own |= (_examples(round_) if kind.name == GRADED else {}) | {"temperature": _temperature()}
        self.fields = {**own, "audit_share": self.fields["audit_share"]}
        for name, field in own.items():
            if name != "judges":
                field.error_messages["required"] = "Choose one." if hasattr(field, "choices") else "Fill this in."

    def _judges(self) -> forms.Field:
        here = model_judges.in_round(self.round.collection, self.round)
        self._here: list[Judge] = [judge for judge in here if ensembles.can_join(judge)]
        return forms.MultipleChoiceField(
            label="Judges",
            choices=[(str(judge.uuid), judge.name) for judge in self._here],
            widget=forms.CheckboxSelectMultiple,
            help_text="A pair waits until each of them has answered it. A failure is no vote.",
            error_messages={"required": "Choose two at least."},
        )

    @property
    def plain(self) -> list[forms.BoundField]:
        """The fields that everybody looks at."""
        return [self[name] for name in self.fields if name not in FOLDED]

    @property
    def folded(self) -> list[forms.BoundField]:
        """Those that few need."""
        return [self[name] for name in self.fields if name in FOLDED]

    def clean(self) -> dict[str, Any]:
        """Accepted answers as their reader gives them; those of a file are in the text from then on."""
        cleaned = super().clean() or {}
        if not self.kind.needs_expected or "expected" in self.errors:
            return cleaned
        upload, text = cleaned.get("file"), cleaned.get("expected") or ""
        if upload and text.strip():
            self.add_error("file", "Give the answers as a text or as a file, not both.")
            return cleaned
        if upload and upload.size > expected_answers.LARGEST:
            self.add_error("file", f"The file is larger than {expected_answers.LARGEST // 1_000_000} MB.")
            return cleaned
        try:
            # A text box always sends CRLF; that is no oddity of the answers.
            given = upload.read() if upload else text.replace("\r\n", "\n")
            cleaned["expected"] = read_at_once(expected_answers.read, given, most=expected_answers.LARGEST)
        except NotValid as error:
            self.add_error("file" if upload else "expected", error.fields.get("expected", str(error)))
            return cleaned
        if upload:
            # A browser sends no file twice, and the next press is "start".
            self.data = self.data.copy()
            self.data["expected"] = json.dumps(cleaned["expected"], ensure_ascii=False, indent=1)
        return cleaned

    @property
    def choice(self) -> Choice:
        """What the verbs take as the judge."""
        cleaned = self.cleaned_data
        collection = self.round.collection
        provider, _, model = cleaned.get("model", "").partition(APART) if self.kind.asks == "model" else ("", "", "")
        snapshot = cleaned.get("snapshot")
        chosen = cleaned.get("judges", ())
        return Choice(
            next((one for one in self._providers if str(one.uuid) == provider), None),
            model,
            self._prompt(),
            cleaned.get("examples") or 0,
            collection.snapshots.get(uuid=snapshot) if snapshot else None,
            self.round.seed,
            cleaned.get("probabilities", False),
            kind=self.kind.name,
            expected=cleaned.get("expected", {}),
            yes=int(cleaned["yes"]) if cleaned.get("yes") else None,
            text_metric=cleaned.get("text_metric", ""),
            temperature=cleaned.get("temperature") or 0.0,
            parameters={one.name: cleaned[one.name] for one in self.kind.parameters if one.name in cleaned},
            judges=[judge for judge in self._here if str(judge.uuid) in chosen] if chosen else (),
        )

    def _prompt(self) -> prompts_kept.Named | None:
        asking = prompts_kept.of_kind(self.kind.name)
        if asking is None:
            return None
        return prompts_kept.find(
            self.round.collection, self.cleaned_data["prompt"] or prompts_kept.USUAL[asking], asking
        )

    @property
    def caps(self) -> dict[str, Any]:
        """What the verb takes beside it."""
        cleaned = self.cleaned_data
        return {
            "cap_usd": cleaned.get("cap_usd"),
            "cap_calls": cleaned.get("cap_calls"),
            "audit_share": cleaned["audit_share"] / 100,
            "canaries": cleaned.get("canaries") or 0,
        }


def _choose(label: str, choices: list[tuple[str, str]], hint: str, *, required: bool = True) -> forms.Field:
    return forms.ChoiceField(label=label, choices=choices, help_text=hint, required=required)


def _words(round_: Round, asking: str) -> dict[str, forms.Field]:
    named = [(one.value, one.title) for one in prompts_kept.named(round_.collection, asking)]
    graded = asking == prompts_kept.GRADE
    hint = f"Its words{'; the round’s scale and guidelines are put in' if graded else ''}."
    field = _choose("Prompt", named, hint, required=graded)
    field.initial = None if graded else prompts_kept.USUAL[asking]
    return {"prompt": field}


def _expected() -> dict[str, forms.Field]:
    return {
        "expected": forms.CharField(
            label="Expected answers",
            required=False,
            strip=False,
            widget=forms.Textarea(attrs={"rows": 8, "class": "mono", "spellcheck": "false"}),
            help_text='JSON such as {"q1": ["an answer", "another"]}, or CSV whose first line reads query_id,expected. '
            "Of several answers any one is enough. Pairs of other queries wait.",
        ),
        "file": forms.FileField(label="Or a file (optional)", required=False),
    }


def _yes(round_: Round) -> forms.Field:
    lowest, *rest = round_.scale.grades.order_by("value").values_list("value", "label")
    usual = next((value for value, _ in rest if value >= round_.scale.relevant_from), rest[-1][0])
    return forms.ChoiceField(
        label="A yes stands for",
        choices=[(str(value), f"{value} {label}") for value, label in rest],
        initial=str(usual),
        required=False,
        help_text=f"This judge says yes or no. A no stands for {lowest[0]} {lowest[1]}.",
    )


def _metrics() -> forms.Field:
    return forms.ChoiceField(
        label="Scored by",
        choices=[(name, f"{TEXT_METRICS[name].title}: {TEXT_METRICS[name].description}") for name in TEXT_METRICS],
        initial="token_f1",
        help_text="How near the answer that the model gives with a document alone is to an expected one.",
    )


def _parameter(parameter: Parameter, collection: Collection) -> forms.Field:
    told: dict[str, Any] = {"label": parameter.title, "help_text": parameter.description, "initial": parameter.default}
    if parameter.name == "rule":
        return forms.ChoiceField(**told | {"choices": [(name, f"{name}: {what}") for name, what in RULES.items()]})
    if parameter.name == "model":
        return forms.ChoiceField(**told | {"choices": [(name, name) for name in grants.local_models(collection)]})
    if parameter.type is bool:
        return forms.BooleanField(**told, required=False)
    if parameter.type is str:
        return forms.CharField(**told, max_length=200)
    kind = forms.IntegerField if parameter.type is int else forms.FloatField
    return kind(**told, min_value=parameter.minimum, max_value=parameter.maximum)


def _caps() -> dict[str, forms.Field]:
    return {"cap_usd": cap_forms.in_dollars("It never spends more"), "cap_calls": cap_forms.in_calls()}


def _canaries() -> forms.Field:
    return forms.IntegerField(
        label="Canaries",
        min_value=0,
        max_value=machine_runs.MOST_CANARIES,
        initial=30,
        help_text="On so many documents it is tried whether planted text talks the judge into a grade: two calls each.",
    )


def _examples(round_: Round) -> dict[str, forms.Field]:
    snapshots = [("", "none"), *((str(one.uuid), one.name) for one in round_.collection.snapshots.all())]
    return {
        "examples": forms.IntegerField(
            label="Examples shown to the model",
            min_value=0,
            max_value=MOST_EXAMPLES,
            initial=0,
            help_text="Frozen grades of people, never for a query of this round.",
        ),
        "snapshot": _choose("Examples from (optional)", snapshots, "", required=False),
        "probabilities": forms.BooleanField(
            label="Ask for the probabilities of the grades",
            required=False,
            help_text="Where the provider tells them: how sure the model was says which pairs people should see.",
        ),
    }


def _temperature() -> forms.Field:
    return forms.FloatField(
        label="Temperature (optional)",
        required=False,
        min_value=0,
        max_value=WARMEST,
        help_text="0, as left empty, asks for the most probable answer; some models take no other than their own.",
    )
