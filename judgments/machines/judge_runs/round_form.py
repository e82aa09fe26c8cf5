"""Form to add a machine judge to a round, with only the fields for its kind."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from django import forms

from assay.core.errors import NotValid
from assay.core.parameters import Parameter
from assay.llm.judges.ensemble import RULES
from assay.text_metrics import TEXT_METRICS
from judgments.jobs.limited_process import read_at_once
from judgments.machines import caps_form, kinds, machine_runs
from judgments.machines.judge_runs import ensembles, expected_answers, model_judges
from judgments.machines.judge_runs.judge_settings import WARMEST, JudgeSettings
from judgments.machines.judge_runs.model_judges import MOST_EXAMPLES
from judgments.machines.kinds import GRADED, Kind
from judgments.machines.prompts import prompts
from judgments.machines.providers.forms import APART, models_of
from judgments.members import grants
from judgments.models import Collection, Judge, JudgeRun, Provider, Round
from judgments.web.forms import AssayForm, PercentField


class GoOnForm(caps_form.GoOnForm):
    """New caps and number of probes when a judge resumes."""

    canaries = caps_form.planted_in_all("Tests whether injected text changes the grade. Each probe requires two calls.")


def go_on_form(run: JudgeRun | None) -> GoOnForm | None:
    """Return the form for a run; caps and probes are for judges that call a model."""
    if run is None:
        return None
    form = GoOnForm.of(run)
    if not model_judges.asks_a_model(run.judge):
        form.fields.clear()
    elif not kinds.says_grades(run.judge.kind):
        del form.fields["canaries"]
    return form


class AcceptForm(AssayForm):
    """Form to accept a judge's lowest grade automatically."""

    bound = PercentField(
        "Minimum precision",
        min_value=50,
        max_value=99.9,
        initial=95,
        help_text="The minimum share of accepted pairs that are not relevant, estimated from the audit slice with 95% "
        "confidence over all judges and requests.",
    )


FOLDED = ("examples", "snapshot", "probabilities", "temperature")


class JudgeForm(AssayForm):
    """A machine judge for a round: its kind, settings and caps."""

    audit_share = caps_form.audit_share()

    def __init__(self, *args: Any, round_: Round, kind: Kind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.round, self.kind = round_, kind
        self._providers: list[Provider] = list(round_.collection.providers.all())
        # Fields in display order; the audit slice comes last.
        own: dict[str, forms.Field] = {}
        if kind.asks == "model":
            own |= {
                "model": _choose("Model", list(models_of(self._providers)), "Models of the collection’s providers.")
            }
        if (asking := prompts.of_kind(kind.name)) is not None:
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
                field.error_messages["required"] = "Choose a value." if hasattr(field, "choices") else "Enter a value."

    def _judges(self) -> forms.Field:
        here = model_judges.in_round(self.round.collection, self.round)
        self._here: list[Judge] = [judge for judge in here if ensembles.can_join(judge)]
        return forms.MultipleChoiceField(
            label="Judges",
            choices=[(str(judge.uuid), judge.name) for judge in self._here],
            widget=forms.CheckboxSelectMultiple,
            help_text="A pair gets a grade only after every judge has answered it. A failed answer is not counted.",
            error_messages={"required": "Choose at least two judges."},
        )

    @property
    def plain(self) -> list[forms.BoundField]:
        """The fields that are always shown."""
        return [self[name] for name in self.fields if name not in FOLDED]

    @property
    def folded(self) -> list[forms.BoundField]:
        """The advanced fields."""
        return [self[name] for name in self.fields if name in FOLDED]

    def clean(self) -> dict[str, Any]:
        """Parse the expected answers. Answers in a file replace the text."""
        cleaned = super().clean() or {}
        if not self.kind.needs_expected or "expected" in self.errors:
            return cleaned
        upload, text = cleaned.get("file"), cleaned.get("expected") or ""
        if upload and text.strip():
            self.add_error("file", "Enter the answers as text or upload a file, not both.")
            return cleaned
        if upload and upload.size > expected_answers.LARGEST:
            self.add_error("file", f"The file is larger than {expected_answers.LARGEST // 1_000_000} MB.")
            return cleaned
        try:
            # A text area always sends CRLF line ends.
            given = upload.read() if upload else text.replace("\r\n", "\n")
            cleaned["expected"] = read_at_once(expected_answers.read, given, most=expected_answers.LARGEST)
        except NotValid as error:
            self.add_error("file" if upload else "expected", error.fields.get("expected", str(error)))
            return cleaned
        if upload:
            # Browsers do not send the file again with the next request, so its answers become the text.
            self.data = self.data.copy()
            self.data["expected"] = json.dumps(cleaned["expected"], ensure_ascii=False, indent=1)
        return cleaned

    @cached_property
    def choice(self) -> JudgeSettings:
        """The judge that the form describes."""
        cleaned = self.cleaned_data
        collection = self.round.collection
        provider, _, model = cleaned.get("model", "").partition(APART) if self.kind.asks == "model" else ("", "", "")
        snapshot = cleaned.get("snapshot")
        chosen = cleaned.get("judges", ())
        return JudgeSettings(
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

    def _prompt(self) -> prompts.Named | None:
        asking = prompts.of_kind(self.kind.name)
        if asking is None:
            return None
        return prompts.find(self.round.collection, self.cleaned_data["prompt"] or prompts.USUAL[asking], asking)

    @property
    def caps(self) -> dict[str, Any]:
        """The caps, audit share and number of probes, as keyword arguments."""
        cleaned = self.cleaned_data
        return {
            "cap_usd": cleaned.get("cap_usd"),
            "cap_calls": cleaned.get("cap_calls"),
            "audit_share": cleaned["audit_share"],
            "canaries": cleaned.get("canaries") or 0,
        }


def _choose(label: str, choices: list[tuple[str, str]], hint: str, *, required: bool = True) -> forms.Field:
    return forms.ChoiceField(label=label, choices=choices, help_text=hint, required=required)


def _words(round_: Round, asking: str) -> dict[str, forms.Field]:
    named = [(one.value, one.title) for one in prompts.named(round_.collection, asking)]
    graded = asking == prompts.GRADE
    hint = f"The prompt template{'; the round’s scale and guidelines are inserted' if graded else ''}."
    field = _choose("Prompt", named, hint, required=graded)
    field.initial = None if graded else prompts.USUAL[asking]
    return {"prompt": field}


def _expected() -> dict[str, forms.Field]:
    return {
        "expected": forms.CharField(
            label="Expected answers",
            required=False,
            strip=False,
            widget=forms.Textarea(attrs={"rows": 8, "class": "mono", "spellcheck": "false"}),
            help_text='JSON such as {"q1": ["an answer", "another"]}, or CSV with the header query_id,expected. If a '
            "query has several answers, one match is enough. Pairs of queries without an expected answer are not sent.",
        ),
        "file": forms.FileField(label="Or a file (optional)", required=False),
    }


def _yes(round_: Round) -> forms.Field:
    lowest, *rest = round_.scale.grades.order_by("value").values_list("value", "label")
    usual = next((value for value, _ in rest if value >= round_.scale.relevant_from), rest[-1][0])
    return forms.ChoiceField(
        label="Grade for yes",
        choices=[(str(value), f"{value} {label}") for value, label in rest],
        initial=str(usual),
        required=False,
        help_text=f"This judge answers yes or no. No becomes {lowest[0]} {lowest[1]}.",
    )


def _metrics() -> forms.Field:
    return forms.ChoiceField(
        label="Metric",
        choices=[(name, f"{TEXT_METRICS[name].title}: {TEXT_METRICS[name].description}") for name in TEXT_METRICS],
        initial="token_f1",
        help_text="Compares the model's answer from this document alone with an expected answer.",
    )


def _parameter(parameter: Parameter, collection: Collection) -> forms.Field:
    options: dict[str, Any] = {
        "label": parameter.title,
        "help_text": parameter.description,
        "initial": parameter.default,
    }
    if parameter.name == "rule":
        return forms.ChoiceField(**options | {"choices": [(name, f"{name}: {what}") for name, what in RULES.items()]})
    if parameter.name == "model":
        return forms.ChoiceField(**options | {"choices": [(name, name) for name in grants.local_models(collection)]})
    if parameter.type is bool:
        return forms.BooleanField(**options, required=False)
    if parameter.type is str:
        return forms.CharField(**options, max_length=200)
    kind = forms.IntegerField if parameter.type is int else forms.FloatField
    return kind(**options, min_value=parameter.minimum, max_value=parameter.maximum)


def _caps() -> dict[str, forms.Field]:
    return {"cap_usd": caps_form.in_dollars("The judge never spends more"), "cap_calls": caps_form.in_calls()}


def _canaries() -> forms.Field:
    return forms.IntegerField(
        label="Prompt-injection probes",
        min_value=0,
        max_value=machine_runs.MOST_CANARIES,
        initial=30,
        help_text="Number of documents in which injected text tries to raise the judge's grade. Each probe requires "
        "two calls.",
    )


def _examples(round_: Round) -> dict[str, forms.Field]:
    snapshots = [("", "none"), *((str(one.uuid), one.name) for one in round_.collection.snapshots.all())]
    return {
        "examples": forms.IntegerField(
            label="Number of examples shown to the model",
            min_value=0,
            max_value=MOST_EXAMPLES,
            initial=0,
            help_text="Human grades from a snapshot, never for a query of this round.",
        ),
        "snapshot": _choose("Snapshot with the examples (optional)", snapshots, "", required=False),
        "probabilities": forms.BooleanField(
            label="Request grade probabilities",
            required=False,
            help_text="The probabilities show which pairs people should judge. Not every provider supports them.",
        ),
    }


def _temperature() -> forms.Field:
    return forms.FloatField(
        label="Temperature (optional)",
        required=False,
        min_value=0,
        max_value=WARMEST,
        help_text="With 0 or an empty field, the model gives its most probable answer. Some models accept only their "
        "default.",
    )
