"""Forms to create a round, or to start without a pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from assay.core.errors import AssayError, NotValid
from judgments.guidelines.guidelines import versions_for
from judgments.models import Collection, GuidelinesVersion, Membership, Role, User
from judgments.models.round import DEFAULT_GRADES
from judgments.rounds.forms import SettingsForm
from judgments.web.forms import AssayForm
from pooling.logs.forms import seed_field
from pooling.pools.refill import BATCH, LARGEST_BATCH
from pooling.rounds.quick_start import Start, read_results

MOST_START_BYTES = 2 * 1024 * 1024
BLANK_GRADES = 2


class GradeForm(AssayForm):
    """One grade of a scale; an empty row is ignored."""

    value = forms.IntegerField(
        required=False, min_value=0, max_value=100, widget=forms.NumberInput(attrs={"class": "input"})
    )
    label = forms.CharField(required=False, max_length=40, widget=forms.TextInput(attrs={"class": "input"}))
    cue = forms.CharField(required=False, max_length=200, widget=forms.TextInput(attrs={"class": "input", "size": 46}))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and self.written and (cleaned.get("value") is None or not cleaned.get("label")):
            self.add_error("value" if cleaned.get("value") is None else "label", "A grade needs a value and a label.")
        return cleaned

    @property
    def written(self) -> bool:
        """Return whether the row has any content."""
        return any(self.cleaned_data.get(name) not in (None, "") for name in ("value", "label", "cue"))


GradeRows = forms.formset_factory(GradeForm, extra=0, max_num=101, absolute_max=101)


def grade_rows(data: Any = None, more: int = 0, grades: Sequence[tuple[int, str, str]] = DEFAULT_GRADES) -> Any:
    """Return the rows of the scale with two blank rows, or the submitted rows with additional blank rows."""
    blank = [{} for _ in range(BLANK_GRADES)]
    usual = [{"value": value, "label": label, "cue": cue} for value, label, cue in grades]
    there = (data or {}).get("grades-TOTAL_FORMS", "")
    if more and there.isascii() and there.isdigit() and len(there) < 4:
        data = data.copy()
        data["grades-TOTAL_FORMS"] = str(min(int(there) + more, 101))
    return GradeRows(data, prefix="grades", initial=[*usual, *blank] if data is None else None)


def written_grades(rows: Any) -> list[tuple[int, str, str]]:
    """Return the rows of a valid formset as (value, label, cue)."""
    written = [row.cleaned_data for row in rows if row.written]
    return [(grade["value"], grade["label"], grade["cue"]) for grade in written]


class RoundForm(SettingsForm):
    """A round over a pool's pairs: raters, ratings per pair and guidelines."""

    name = forms.CharField(max_length=120)
    guidelines = forms.ModelChoiceField(
        GuidelinesVersion.objects.none(), to_field_name="uuid", required=False, empty_label=None
    )
    relevant_from = forms.IntegerField(
        label="Lowest relevant grade",
        required=False,
        min_value=1,
        max_value=100,
        help_text="Binary metrics count this grade and higher grades as relevant.",
    )
    raters = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    seed = seed_field()

    def __init__(self, *args: Any, collection: Collection, grows: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.grows = grows
        if grows:
            self._add_plan()
        versions = versions_for(collection)
        self.fields["guidelines"].queryset = versions
        if not versions.exists():
            self.fields["guidelines"].widget.choices = [("", "the template (becomes version 1)")]
        members = Membership.objects.filter(collection=collection, role__in=[Role.RATER, Role.LEAD])
        self.members: Sequence[Membership] = list(members.select_related("user"))
        self.fields["raters"].choices = [
            (str(member.user.uuid), f"{member.user.get_username()} ({member.role})") for member in self.members
        ]

    def _add_plan(self) -> None:
        """Add the settings for choosing pairs while the round is open, for a pool with an adaptive strategy."""
        self.fields["goes_on"] = forms.BooleanField(
            label="Choose additional pairs based on incoming judgments",
            required=False,
            help_text="If cleared, the round has only the pairs of this pool.",
        )
        self.fields["most_pairs"] = forms.IntegerField(
            label="Maximum pairs in total",
            required=False,
            min_value=2,
            max_value=10_000_000,
            help_text="This includes the pairs of the pool.",
        )
        self.fields["pairs_per_query"] = forms.IntegerField(
            label="Maximum pairs per query (optional)", required=False, min_value=1, max_value=100_000
        )
        self.fields["batch"] = forms.IntegerField(
            label="Pairs per query and batch",
            required=False,
            min_value=1,
            max_value=LARGEST_BATCH,
            help_text="Assay keeps two batches ready for raters. Smaller batches let the strategy learn sooner.",
        )
        self.fields["residual"] = forms.IntegerField(
            label="Residual",
            required=False,
            min_value=0,
            max_value=1_000,
            help_text="Random pairs per query, drawn from the remaining pairs when pair selection ends.",
        )

    @property
    def plan(self) -> dict[str, Any] | None:
        """Return the arguments of `refill.begin`; None for a round with fixed pairs."""
        if not self.grows or not self.cleaned_data.get("goes_on"):
            return None
        return {
            "most_pairs": self.cleaned_data["most_pairs"],
            "pairs_per_query": self.cleaned_data["pairs_per_query"],
            "batch": self.cleaned_data["batch"] or BATCH,
            "residual": self.cleaned_data["residual"] or 0,
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.grows and cleaned.get("goes_on") and "most_pairs" in cleaned and not cleaned["most_pairs"]:
            self.add_error("most_pairs", "Enter the maximum number of pairs of the round.")
        return cleaned

    def tell(self, error: AssayError) -> None:
        """Show an error of the scale above the form, because its rows are a separate formset."""
        fault = getattr(error, "fields", {}).get("scale")
        super().tell(NotValid(f"{error} {fault}") if fault else error)

    @property
    def selected_raters(self) -> list[User]:
        """Return the selected members."""
        ticked = set(self.cleaned_data.get("raters", ()))
        return [member.user for member in self.members if str(member.user.uuid) in ticked]


class QueriesForm(AssayForm):
    """The first step of a quick start: typed queries, or a file with queries and results."""

    queries = forms.CharField(
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false"}),
        help_text="One query per line. Take queries from the query log, from "
        "colleagues, or from your own recent searches.",
    )
    file = forms.FileField(
        label="Or: CSV with queries and results (optional)",
        required=False,
        help_text="Columns query,title,url,text; one result per line.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("queries", "").strip() and not cleaned.get("file"):
            self.add_error("queries", "Type one query per line, or choose a file.")
        return cleaned

    def text_of_file(self) -> str:
        """Return the text of the file."""
        upload = self.cleaned_data["file"]
        if upload.size > MOST_START_BYTES:
            message = "This page accepts files up to 2 MB. For more, upload a queries file and a documents file."
            raise NotValid(message, "file")
        try:
            return upload.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = f"{upload.name} is not valid UTF-8 at byte {error.start + 1}. Save the file as UTF-8 CSV."
            raise NotValid(message, "file") from error


class ResultsForm(AssayForm):
    """The second step of a quick start: a box for the results of each query, one result per line."""

    def __init__(self, *args: Any, queries: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.queries = queries
        for number, query in enumerate(queries):
            self.fields[f"results-{number}"] = forms.CharField(
                label=query,
                required=False,
                max_length=200_000,
                widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
            )

    @property
    def starts(self) -> list[Start]:
        """Return each query with the results in its box."""
        of = self.cleaned_data if self.is_bound and self.is_valid() else {}
        return [Start(query, read_results(of.get(f"results-{n}", ""))) for n, query in enumerate(self.queries)]
