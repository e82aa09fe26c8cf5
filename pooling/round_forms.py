"""Forms to create a round, or to start without a pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from judgments.core.errors import AssayError, NotValid
from judgments.forms import AssayForm
from judgments.guidelines import versions_for
from judgments.models import Collection, GuidelinesVersion, Membership, Role, User
from judgments.models.scale import DEFAULT_GRADES
from judgments.round_settings_form import SettingsForm
from pooling.forms import seed_field
from pooling.refill import BATCH, LARGEST_BATCH
from pooling.start import Start, read_results

MOST_START_BYTES = 2 * 1024 * 1024
BLANK_GRADES = 2


class GradeForm(AssayForm):
    """One grade of a scale; a row that is left empty is no grade."""

    value = forms.IntegerField(
        required=False, min_value=0, max_value=100, widget=forms.NumberInput(attrs={"class": "input"})
    )
    label = forms.CharField(required=False, max_length=40, widget=forms.TextInput(attrs={"class": "input"}))
    cue = forms.CharField(required=False, max_length=200, widget=forms.TextInput(attrs={"class": "input", "size": 46}))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and self.written and (cleaned.get("value") is None or not cleaned.get("label")):
            self.add_error("value" if cleaned.get("value") is None else "label", "A grade has a value and a label.")
        return cleaned

    @property
    def written(self) -> bool:
        """Whether anything stands in the row."""
        return any(self.cleaned_data.get(name) not in (None, "") for name in ("value", "label", "cue"))


GradeRows = forms.formset_factory(GradeForm, extra=0, max_num=101, absolute_max=101)


def grade_rows(data: Any = None, more: int = 0, grades: Sequence[tuple[int, str, str]] = DEFAULT_GRADES) -> Any:
    """The rows of the scale: those given with two blank ones, or what was sent with more blank ones."""
    blank = [{} for _ in range(BLANK_GRADES)]
    usual = [{"value": value, "label": label, "cue": cue} for value, label, cue in grades]
    there = (data or {}).get("grades-TOTAL_FORMS", "")
    if more and there.isascii() and there.isdigit() and len(there) < 4:
        data = data.copy()
        data["grades-TOTAL_FORMS"] = str(min(int(there) + more, 101))
    return GradeRows(data, prefix="grades", initial=[*usual, *blank] if data is None else None)


def written_grades(rows: Any) -> list[tuple[int, str, str]]:
    """The rows of a valid set as (value, label, cue)."""
    written = [row.cleaned_data for row in rows if row.written]
    return [(grade["value"], grade["label"], grade["cue"]) for grade in written]


class RoundForm(SettingsForm):
    """A round over a pool's pairs: who rates what, how often, under which guidelines."""

    name = forms.CharField(max_length=120)
    guidelines = forms.ModelChoiceField(
        GuidelinesVersion.objects.none(), to_field_name="uuid", required=False, empty_label=None
    )
    relevant_from = forms.IntegerField(
        label="Relevant from grade",
        required=False,
        min_value=1,
        max_value=100,
        help_text="Where a metric knows only yes and no, grades from here on count as relevant.",
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
            self.fields["guidelines"].widget.choices = [("", "the template, as version 1")]
        members = Membership.objects.filter(collection=collection, role__in=[Role.RATER, Role.LEAD])
        self.members: Sequence[Membership] = list(members.select_related("user"))
        self.fields["raters"].choices = [
            (str(member.user.uuid), f"{member.user.get_username()} ({member.role})") for member in self.members
        ]

    def _add_plan(self) -> None:
        """How pairs are chosen while the round is open, for a pool whose strategy learns."""
        self.fields["goes_on"] = forms.BooleanField(
            label="Choose further pairs from the judgments as they come",
            required=False,
            help_text="Without it the round has the pairs of this pool and no others.",
        )
        self.fields["most_pairs"] = forms.IntegerField(
            label="Pairs in all, at most",
            required=False,
            min_value=2,
            max_value=10_000_000,
            help_text="The budget: those of the pool count.",
        )
        self.fields["pairs_per_query"] = forms.IntegerField(
            label="Pairs a query, at most (optional)", required=False, min_value=1, max_value=100_000
        )
        self.fields["batch"] = forms.IntegerField(
            label="Pairs of a query chosen at a time",
            required=False,
            min_value=1,
            max_value=LARGEST_BATCH,
            help_text="Raters have two such batches ahead. Smaller ones learn sooner.",
        )
        self.fields["residual"] = forms.IntegerField(
            label="Residual",
            required=False,
            min_value=0,
            max_value=1_000,
            help_text="Random pairs a query from what is left, drawn when choosing ends.",
        )

    @property
    def plan(self) -> dict[str, Any] | None:
        """What `refill.begin` takes; None where the pairs stay as they are."""
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
            self.add_error("most_pairs", "Say how many pairs the round may have at most.")
        return cleaned

    def tell(self, error: AssayError) -> None:
        """What is wrong with the scale stands above the form: its rows are a form of their own."""
        said = getattr(error, "fields", {}).get("scale")
        super().tell(NotValid(f"{error} {said}") if said else error)

    @property
    def asked(self) -> list[User]:
        """The members who were ticked."""
        ticked = set(self.cleaned_data.get("raters", ()))
        return [member.user for member in self.members if str(member.user.uuid) in ticked]


class QueriesForm(AssayForm):
    """The first step of a start: queries typed by hand, or a file that has their results too."""

    queries = forms.CharField(
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false"}),
        help_text="One a line. Take them from the log, from colleagues, or from what you tried this week.",
    )
    file = forms.FileField(
        label="Or a CSV with queries and results (optional)",
        required=False,
        help_text="Columns query,title,url,text; one result a line.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("queries", "").strip() and not cleaned.get("file"):
            self.add_error("queries", "Type one query a line, or choose a file.")
        return cleaned

    def text_of_file(self) -> str:
        """The file's text.

        Raises
        ------
        NotValid
            It is too large for this page, or no UTF-8.
        """
        upload = self.cleaned_data["file"]
        if upload.size > MOST_START_BYTES:
            said = "This page takes files up to 2 MB. Store a queries file and a documents file for more."
            raise NotValid(said, {"file": said})
        try:
            return upload.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            said = f"{upload.name} is not UTF-8 at byte {error.start + 1}. Save it as CSV UTF-8."
            raise NotValid(said, {"file": said}) from error


class ResultsForm(AssayForm):
    """The second step of a start: for each query a box with what the search answers, one result a line."""

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
        """Each query with the results in its box."""
        of = self.cleaned_data if self.is_bound and self.is_valid() else {}
        return [Start(query, read_results(of.get(f"results-{n}", ""))) for n, query in enumerate(self.queries)]
