"""Forms of the two steps to start a decision: the systems, and the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from django import forms
from django.utils.safestring import SafeString

from assay.core.errors import NotValid
from assay.sequential import METHODS
from evaluation.decisions.decisions import METRIC, Settings
from judgments.members import invite_links
from judgments.models import Collection, Membership, QuerySample, Role, User
from judgments.web.access import RATERS
from judgments.web.forms import AssayForm
from pooling.logs.forms import seed_field
from pooling.models import Connector, Run
from pooling.rounds.forms import MOST_START_BYTES

# The candidates of a form's file field.
Files = Sequence[Any]


class SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """A file field that accepts several files."""

    widget = SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> Files:
        files = data if isinstance(data, list | tuple) else [data] if data else []
        return [super(FilesField, self).clean(one, initial) for one in files]


class SystemsForm(AssayForm):
    """The first step: a baseline and one or more candidates, as files, existing runs, engines or pasted lists."""

    name = forms.CharField(
        label="Name of the collection",
        max_length=120,
        help_text="For example the search engine, such as Shop search.",
    )
    baseline = forms.ModelChoiceField(
        Run.objects.none(), label="Run", required=False, to_field_name="uuid", empty_label="choose a run"
    )
    baseline_engine = forms.ModelChoiceField(
        Connector.objects.none(), label="Or: engine", required=False, to_field_name="uuid", empty_label="choose one"
    )
    baseline_file = forms.FileField(
        label="Run file of the current system", required=False, help_text="A file replaces the run chosen above."
    )
    candidates = forms.ModelMultipleChoiceField(
        Run.objects.none(),
        label="Runs",
        required=False,
        to_field_name="uuid",
        widget=forms.CheckboxSelectMultiple,
    )
    candidate_engine = forms.ModelChoiceField(
        Connector.objects.none(), label="Or: engine", required=False, to_field_name="uuid", empty_label="choose one"
    )
    candidate_files = FilesField(
        label="Run files of the changed systems",
        required=False,
        widget=SeveralFiles,
        help_text="Several files are several candidates.",
    )
    queries = forms.FileField(
        label="Queries (optional)",
        required=False,
        help_text="A file with the columns query_id,query. Without one, the query ids of the runs serve as texts.",
    )
    typed = forms.CharField(
        label="Or: type queries (optional)",
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="One query per line. Engines are asked for their results.",
    )
    documents = forms.FileField(
        label="Documents (optional)",
        required=False,
        help_text="JSON Lines with doc_id, title and text, or CSV. Raters see only what is in this file.",
    )
    pasted = forms.CharField(
        label="Results as a table",
        required=False,
        max_length=MOST_START_BYTES,
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        help_text="Columns system,query,title,url,text, separated by commas or tabs; one result per line, best first. "
        "The first system is the baseline.",
    )

    def __init__(self, *args: Any, collection: Collection | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if collection is None:
            names: tuple[str, ...] = ("baseline", "candidates", "typed", *ENGINES)
            self.fields["baseline_file"].help_text = ""
        else:
            runs, connectors = collection.runs.active(), collection.connectors.all()
            self.fields["baseline"].queryset = self.fields["candidates"].queryset = runs
            self.fields["baseline_engine"].queryset = self.fields["candidate_engine"].queryset = connectors
            names = ("name",)
            if not runs.exists():
                names += ("baseline", "candidates")
                self.fields["baseline_file"].help_text = ""
            names += () if connectors.exists() else ("typed", *ENGINES)
        for name in names:
            del self.fields[name]

    @property
    def engines(self) -> list[Connector]:
        """Return the engines whose results have to be fetched, the baseline's first."""
        return [engine for name in ENGINES if (engine := self.cleaned_data.get(name))]

    @property
    def by_role(self) -> list[tuple[str, Connector | None, Files, list[Run]]]:
        """Return what was given for baseline and candidate: an engine, files, and existing runs."""
        values = self.cleaned_data
        first = [values["baseline_file"]] if values.get("baseline_file") else []
        run = [values["baseline"]] if values.get("baseline") and not first else []
        files, runs = values.get("candidate_files") or (), list(values.get("candidates") or ())
        return [
            ("baseline", values.get("baseline_engine"), first, run),
            ("candidate", values.get("candidate_engine"), files, runs),
        ]

    @property
    def given(self) -> dict[str, Any]:
        """Return the systems as arguments of `systems.store`."""
        (_, _, *baseline), (_, _, *candidates) = self.by_role
        return {
            "baseline": next((one for of in baseline for one in of), None),
            "candidates": [one for of in candidates for one in of],
            "pasted": self.cleaned_data.get("pasted", ""),
        }

    @property
    def texts(self) -> dict[str, Any]:
        """Return the arguments of `systems.store_texts`."""
        values = self.cleaned_data
        return {
            "queries": values.get("queries"),
            "documents": values.get("documents"),
            "typed": values.get("typed", ""),
        }

    def clean(self) -> dict[str, Any]:
        """Refuse what would otherwise be ignored."""
        cleaned = super().clean() or {}
        files = ("baseline_file", "candidate_files", "queries", "documents", "typed", *ENGINES)
        if cleaned.get("pasted", "").strip() and any(cleaned.get(name) for name in files):
            self.add_error("pasted", "Give either files and engines, or a pasted table. Remove one of them.")
        for name, others in (
            ("baseline_engine", ("baseline_file",)),
            ("candidate_engine", ("candidate_files", "candidates")),
        ):
            if cleaned.get(name) and any(cleaned.get(other) for other in others):
                self.add_error(name, "Choose either an engine or runs.")
        return cleaned


ENGINES = ("baseline_engine", "candidate_engine")
ANSWERED = "answered"


class PlanForm(AssayForm):
    """The second step: the queries, the people and the settings of the decision."""

    name = forms.CharField(max_length=120)
    queries = forms.ChoiceField(required=False)
    rate = forms.BooleanField(label="I rate, too", required=False)
    raters = forms.MultipleChoiceField(
        label="Raters of this collection", required=False, widget=forms.CheckboxSelectMultiple
    )
    people = forms.CharField(
        label="Invite people (optional)",
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
    )
    role = forms.ChoiceField(label="Role of the invited people", choices=Role.choices, required=False)
    metric = forms.CharField(max_length=100, help_text="One metric with a cutoff, chosen before judging starts.")
    delta = forms.FloatField(
        label="Smallest relevant difference",
        min_value=0.001,
        max_value=0.5,
        help_text="Systems that differ by less than this are equivalent.",
    )
    method = forms.ChoiceField(label="Method")
    closes = forms.BooleanField(
        label="Close the round when the verdict is reached", required=False, help_text="Raters then stop."
    )
    skips_same_rank = forms.BooleanField(
        label="Skip documents at the same rank in all lists",
        required=False,
        help_text="Only for DCG, P and RBP, whose difference does not depend on them.",
    )
    weighted = forms.BooleanField(
        label="Weight queries by the traffic that they represent",
        required=False,
        help_text="For queries that were drawn from a log by tier.",
    )
    ratings_per_pair = forms.IntegerField(label="Ratings per pair", min_value=1, max_value=5)
    overlap = forms.FloatField(label="Share of pairs with several ratings", min_value=0, max_value=1)
    seed = seed_field()

    def __init__(
        self, *args: Any, collection: Collection, actor: Any, candidates: Sequence[Run], **kwargs: Any
    ) -> None:
        plain = Settings()
        initial = {
            "name": _free_name(collection, candidates),
            "rate": True,
            "role": Role.RATER,
            **{name: getattr(plain, name) for name in SETTINGS},
            **(kwargs.pop("initial", None) or {}),
        }
        super().__init__(*args, initial=initial, **kwargs)
        self.collection, self.actor = collection, actor
        self.fields["metric"].initial = METRIC
        self.fields["method"].choices = [(name, METHODS[name].title) for name in METHODS]
        self.fields["method"].help_text = METHODS[plain.method].description
        samples = QuerySample.objects.filter(collection=collection)
        self.fields["queries"].choices = [
            (ANSWERED, "all queries that a system answers"),
            *((str(sample.uuid), f"the sample {sample}") for sample in samples),
        ]
        if not samples:
            del self.fields["queries"], self.fields["weighted"]
        members = Membership.objects.filter(collection=collection, role__in=RATERS).exclude(user=actor)
        self.members = list(members.select_related("user").order_by("user__username"))
        self.fields["raters"].choices = [
            (str(member.user.uuid), f"{member.user.get_username()} ({member.role})") for member in self.members
        ]
        if not self.members:
            del self.fields["raters"]
        if not invite_links.available():
            del self.fields["people"], self.fields["role"]
        else:
            self.fields["people"].help_text = invite_links.how_people_learn()

    @property
    def hidden_settings(self) -> list[SafeString]:
        """Return the settings of a verdict as hidden fields, for a round of one system, which has none."""
        return [self[name].as_hidden() for name in ("delta", "method")]

    @property
    def settings(self) -> Settings:
        """Return the settings of the decision."""
        values = self.cleaned_data
        return Settings(**{name: values[name] for name in SETTINGS if name in values})

    @property
    def query_ids(self) -> list[str] | None:
        """Return the queries of the chosen sample, or None for all that a system answers."""
        chosen = self.cleaned_data.get("queries") or ANSWERED
        if chosen == ANSWERED:
            return None
        rows = self.collection.queries.filter(sample__uuid=chosen)
        return list(rows.values_list("query_id", flat=True))

    @property
    def selected_raters(self) -> list[User]:
        """Return the members who rate, the actor first."""
        ticked = set(self.cleaned_data.get("raters", ()))
        others = [member.user for member in self.members if str(member.user.uuid) in ticked]
        return [*([self.actor] if self.cleaned_data.get("rate") else []), *others]

    @property
    def invited(self) -> list[str]:
        """Return the names and e-mail addresses of the people to invite."""
        return invite_links.read_people(self.cleaned_data.get("people", ""))

    @property
    def expected_raters(self) -> int:
        """Return the number of people who can be expected to rate."""
        role = self.cleaned_data.get("role") or Role.RATER
        return len(self.selected_raters) + (len(self.invited) if role in RATERS else 0)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        try:
            invited = self.invited if "people" in cleaned else []
        except NotValid as error:
            self.add_error("people", error.fields["people"])
            return cleaned
        if not (cleaned.get("rate") or cleaned.get("raters") or (invited and cleaned.get("role") in RATERS)):
            self.add_error("rate", "Somebody has to rate: rate yourself, or choose or invite raters.")
        return cleaned


SETTINGS = [field.name for field in fields(Settings) if field.name != "alpha"]


def _free_name(collection: Collection, candidates: Sequence[Run]) -> str:
    wanted = " and ".join(run.name for run in candidates)[:100] or "First round"
    taken = {*collection.decisions.values_list("name", flat=True), *collection.rounds.values_list("name", flat=True)}
    return next(name for name in (wanted, *(f"{wanted} {n}" for n in range(2, 9_999))) if name not in taken)
