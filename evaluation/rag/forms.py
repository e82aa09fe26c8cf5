"""Forms of RAG pages."""

from __future__ import annotations

from typing import Any

from django import forms

from evaluation.models import RagSampleSet
from evaluation.rag import critics, from_collection, scorecards
from judgments.machines import caps_form
from judgments.machines.providers.forms import APART, models_of
from judgments.models import Collection, User
from judgments.rounds.answer_dimensions import DIMENSIONS
from judgments.web import access
from judgments.web.forms import AssayForm


class SettingsForm(AssayForm):
    """Metrics and slices of a set's scorecards."""

    metrics = forms.CharField(
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Separated by spaces or commas, for example TokenF1 RecallAtK(k=5). Leave empty for the defaults.",
    )
    slices = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple, label="Labels to slice by")

    def __init__(self, sample_set: RagSampleSet, *args: Any, **kwargs: Any) -> None:
        chosen = scorecards.settings_of(sample_set)
        kwargs.setdefault("initial", {"metrics": " ".join(chosen.metrics), "slices": chosen.slices})
        super().__init__(*args, **kwargs)
        self.fields["slices"].choices = [
            (label, f"{label} ({len(values)} values)") for label, values in sample_set.labels.items()
        ]
        if not sample_set.labels:
            del self.fields["slices"]


class FromCollectionForm(AssayForm):
    """Sources of a new sample set."""

    name = forms.CharField(max_length=120, label="Name of the sample set")
    snapshot = forms.ModelChoiceField(
        queryset=None,
        to_field_name="uuid",
        required=False,
        empty_label="none: questions only",
        help_text="Its labels define which documents are relevant to each query.",
    )
    threshold = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=100,
        label="Lowest relevant grade (optional)",
        help_text="Leave empty to use the threshold of the snapshot's scale.",
    )
    run = forms.ModelChoiceField(
        queryset=None,
        to_field_name="uuid",
        required=False,
        empty_label="none",
        help_text="Its documents become the retrieved documents of the first system.",
    )
    depth = forms.IntegerField(
        min_value=1,
        max_value=from_collection.MOST_DEPTH,
        initial=from_collection.DEPTH,
        label="Documents per query",
        help_text="The number of documents to keep from the run for each query.",
    )

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["snapshot"].queryset = collection.snapshots.defer("manifest")
        self.fields["run"].queryset = collection.runs.active().defer("report", "health")


class GradeForm(AssayForm):
    """Answers, dimensions and raters of the rounds to create."""

    name = forms.CharField(max_length=60, label="Name of the rounds")
    systems = forms.ModelMultipleChoiceField(queryset=None, to_field_name="uuid", widget=forms.CheckboxSelectMultiple)
    dimensions = forms.MultipleChoiceField(
        choices=[(name, f"{name}: {of.question}") for name, of in DIMENSIONS.items()],
        initial=list(DIMENSIONS),
        widget=forms.CheckboxSelectMultiple,
        help_text="Assay creates one draft round per dimension, all with the same answers.",
    )
    samples = forms.IntegerField(
        required=False,
        min_value=1,
        label="Number of samples (optional)",
        help_text="Assay draws this many samples at random. Leave empty to use all samples.",
    )
    ratings_per_pair = forms.IntegerField(min_value=1, max_value=10, initial=2, label="Ratings per answer")
    raters = forms.ModelMultipleChoiceField(
        queryset=None, to_field_name="username", required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, sample_set: RagSampleSet, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("initial", {"name": sample_set.name[:60]})
        super().__init__(*args, **kwargs)
        collection = sample_set.collection
        self.fields["systems"].queryset = sample_set.systems.active()
        members = collection.memberships.filter(role__in=access.RATERS)
        self.fields["raters"].queryset = User.objects.filter(pk__in=members.values("user")).order_by("username")


class CriticForm(AssayForm):
    """A critic, its metrics and its caps."""

    model = forms.ChoiceField(help_text="Prices are in dollars per million input and output tokens.")
    metrics = forms.CharField(
        max_length=2000,
        initial=" ".join(critics.METRICS),
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Separated by spaces or commas, for example LLMAnswerQuality(dimensions=[clarity]).",
    )
    cap_usd = caps_form.in_dollars("Applies to all systems together")
    cap_calls = caps_form.in_calls()

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._providers = {str(one.uuid): one for one in collection.providers.all()}
        self.fields["model"].choices = list(models_of(list(self._providers.values())))

    @property
    def choice(self) -> critics.CriticSettings:
        """Return the model and the metrics."""
        uuid, _, model = self.cleaned_data["model"].partition(APART)
        return critics.CriticSettings(self._providers[uuid], model, [self.cleaned_data["metrics"]])

    @property
    def caps(self) -> dict[str, Any]:
        """Return the caps of the critic."""
        return {name: self.cleaned_data[name] for name in ("cap_usd", "cap_calls")}
