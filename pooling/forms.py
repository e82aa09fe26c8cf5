"""What may be typed into the pages of this room?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from judgments.core.errors import AssayError, NotValid
from judgments.forms import AssayForm
from judgments.models import Collection, GuidelinesVersion, Membership, Role, User
from judgments.models.scale import DEFAULT_GRADES
from pooling.pair_lists import PairList, read_pairs
from pooling.query_logs import DEFAULT_SIZES
from pooling.start import Start, read_results
from pooling.strategies import Parameter, Strategy

BIGGEST_SEED = 2**31 - 1
MOST_PAIRS_BYTES = 16 * 1024 * 1024
MOST_START_BYTES = 2 * 1024 * 1024
BLANK_GRADES = 2
ORDER_WORDS = [("rank", "by its ranks, as shown to users"), ("score", "by document id, as metrics do")]


def seed_field() -> forms.IntegerField:
    """The seed of a draw, the same on every page."""
    return forms.IntegerField(
        label="Seed", min_value=0, max_value=BIGGEST_SEED, help_text="The same seed draws the same again."
    )


class DrawForm(AssayForm):
    """How queries are drawn from a log."""

    STRATIFIED, PPS = "stratified", "pps"

    method = forms.ChoiceField(
        choices=[
            (STRATIFIED, "by tier: so many of head, torso and tail, each tier at random"),
            (PPS, "by traffic: over the whole log, frequent queries with a greater chance"),
        ],
        widget=forms.RadioSelect,
    )
    head = forms.IntegerField(label="Head", min_value=0, max_value=100_000)
    torso = forms.IntegerField(label="Torso", min_value=0, max_value=100_000)
    tail = forms.IntegerField(label="Tail", min_value=0, max_value=100_000)
    n = forms.IntegerField(label="How many, when drawn by traffic", min_value=1, max_value=100_000)
    seed = seed_field()
    window_days = forms.IntegerField(
        label="Days before the log's last search (optional)",
        required=False,
        min_value=1,
        max_value=10_000,
        help_text="Empty takes the whole log. A log without times is taken whole.",
    )
    head_share = forms.FloatField(
        label="Head ends at", min_value=0.01, max_value=1, help_text="A share of the traffic: 0.5 is half of it."
    )
    torso_share = forms.FloatField(label="Torso ends at", min_value=0.01, max_value=1)

    DEFAULTS = {
        "method": STRATIFIED,
        **DEFAULT_SIZES,
        "n": sum(DEFAULT_SIZES.values()),
        "seed": 1,
        "window_days": 90,
        "head_share": 0.5,
        "torso_share": 0.8,
    }

    @property
    def values(self) -> dict[str, Any]:
        """What is asked for: the form's where it holds, else the defaults."""
        return self.cleaned_data if self.is_bound and self.is_valid() else self.DEFAULTS


class RenameForm(AssayForm):
    """Another name for a run."""

    name = forms.CharField(max_length=120)


class PoolForm(AssayForm):
    """Which runs, which strategy with which parameters; the strategy's fields come from its declaration."""

    def __init__(self, *args: Any, collection: Collection, strategy: Strategy, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.strategy = strategy
        self.pair_list: PairList | None = None
        given = strategy.name == "list"
        self.fields["runs"] = forms.ModelMultipleChoiceField(
            collection.runs.all(),
            to_field_name="uuid",
            required=not given,
            widget=forms.CheckboxSelectMultiple,
            help_text="Each pair then shows at which rank they return it." if given else "",
            error_messages={"required": "Choose at least one run."},
        )
        for parameter in strategy.parameters:
            if parameter.type is not list:
                self.fields[parameter.name] = _parameter_field(parameter)
        if given:
            self._add_pairs()
        else:
            self._add_limits()
        self.fields["by"] = forms.ChoiceField(
            label="Where a run’s scores are equal", choices=ORDER_WORDS, required=not given
        )
        self.fields["seed"] = seed_field()

    def _add_pairs(self) -> None:
        self.fields["pairs"] = forms.CharField(
            required=False,
            strip=False,
            widget=forms.Textarea(attrs={"rows": 8, "class": "mono", "spellcheck": "false"}),
            help_text="CSV with a header: query_id,doc_id. One pair a line.",
        )
        self.fields["file"] = forms.FileField(label="Or a file (optional)", required=False)

    def _add_limits(self) -> None:
        self.fields["budget"] = forms.IntegerField(
            label="Budget (optional)", required=False, min_value=1, help_text="Pairs a query at most, best first."
        )
        self.fields["residual"] = forms.IntegerField(
            label="Residual",
            min_value=0,
            max_value=1_000,
            help_text="Random pairs a query from below the pool: "
            "they show how much relevant the pool misses. 5 to 10 are enough.",
        )
        self.fields["leave_out_judged"] = forms.BooleanField(
            label="Leave out what has a human grade already", required=False
        )

    @staticmethod
    def defaults(collection: Collection, strategy: Strategy) -> dict[str, Any]:
        """All runs, the strategy's own defaults, and no limits; no run for a given list."""
        return {
            "runs": [] if strategy.name == "list" else [str(run.uuid) for run in collection.runs.all()],
            **{parameter.name: parameter.default for parameter in strategy.parameters if parameter.type is not list},
            "residual": 0,
            "by": "rank",
            "seed": 1,
        }

    def clean(self) -> dict[str, Any]:
        """The pairs as the reader of pairs-csv gives them, and in the text box what the file held."""
        cleaned = super().clean() or {}
        if self.strategy.name == "list":
            self._read_pairs(cleaned)
        return cleaned

    def _read_pairs(self, cleaned: dict[str, Any]) -> None:
        upload = cleaned.get("file")
        if upload and upload.size > MOST_PAIRS_BYTES:
            self.add_error("file", "A list of pairs takes at most 16 MB here. Push a longer one through the API.")
            return
        content = upload.read() if upload else (cleaned.get("pairs") or "").encode()
        try:
            self.pair_list = read_pairs(content, upload.name if upload else "pairs")
        except NotValid as error:
            self.add_error("file" if upload else "pairs", str(error))
            return
        cleaned["pairs"] = self.pair_list.pairs

    @property
    def sent(self) -> list[tuple[str, Any]]:
        """The valid form as names and values, to be sent again as it was previewed."""
        cleaned = self.cleaned_data
        single = [(name, cleaned[name]) for name in self.fields if name not in ("runs", "pairs", "file")]
        pairs = [("pairs", self.pair_list.text)] if self.pair_list else []
        runs = [("runs", run.uuid) for run in cleaned["runs"]]
        told = [(name, "on" if value is True else value) for name, value in single if value not in (None, False)]
        return [("strategy", self.strategy.name), *runs, *told, *pairs]

    @property
    def choice(self) -> dict[str, Any]:
        """What :func:`pooling.pools.choose` and ``draw_pool`` take."""
        cleaned = self.cleaned_data
        names = [parameter.name for parameter in self.strategy.parameters]
        return {
            "strategy": self.strategy.name,
            "runs": list(cleaned["runs"]),
            "parameters": {name: cleaned[name] for name in names if name in cleaned},
            "seed": cleaned["seed"],
            "by": cleaned.get("by") or "rank",
            "budget": cleaned.get("budget"),
            "residual": cleaned.get("residual") or 0,
            "leave_out_judged": cleaned.get("leave_out_judged", False),
        }


def _parameter_field(parameter: Parameter) -> forms.Field:
    kind = forms.IntegerField if parameter.type is int else forms.FloatField
    return kind(
        label=parameter.title,
        min_value=parameter.minimum,
        max_value=parameter.maximum,
        help_text=parameter.description,
    )


class GradeForm(AssayForm):
    """One grade of a scale; a row that is left empty is no grade."""

    value = forms.IntegerField(required=False, min_value=0, max_value=100)
    label = forms.CharField(required=False, max_length=40)
    cue = forms.CharField(required=False, max_length=200)

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


def grade_rows(data: Any = None, more: int = 0) -> Any:
    """The rows of the scale: the usual four with two blank ones, or what was sent with more blank ones."""
    blank = [{} for _ in range(BLANK_GRADES)]
    usual = [{"value": value, "label": label, "cue": cue} for value, label, cue in DEFAULT_GRADES]
    if data is not None and more:
        data = data.copy()
        data["grades-TOTAL_FORMS"] = str(min(int(data.get("grades-TOTAL_FORMS") or 0) + more, 101))
    return GradeRows(data, prefix="grades", initial=[*usual, *blank] if data is None else None)


def written_grades(rows: Any) -> list[tuple[int, str, str]]:
    """The rows of a valid set as (value, label, cue)."""
    written = [row.cleaned_data for row in rows if row.written]
    return [(grade["value"], grade["label"], grade["cue"]) for grade in written]


class RoundForm(AssayForm):
    """A round over a pool's pairs: who rates what, how often, under which guidelines."""

    name = forms.CharField(max_length=120)
    guidelines = forms.ModelChoiceField(
        GuidelinesVersion.objects.none(), to_field_name="uuid", required=False, empty_label=None
    )
    ratings_per_pair = forms.IntegerField(
        label="Ratings per pair",
        min_value=1,
        max_value=20,
        help_text="Two show how far raters agree; with one nobody knows.",
    )
    overlap = forms.FloatField(
        label="Share of the pairs that get them",
        min_value=0,
        max_value=1,
        help_text="1 is every pair; 0.2 every fifth, drawn by the seed. The others get one rating.",
    )
    raters = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    seed = seed_field()

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        versions = GuidelinesVersion.objects.filter(collection=collection).order_by("-number")
        self.fields["guidelines"].queryset = versions
        if not versions.exists():
            self.fields["guidelines"].widget.choices = [("", "the template, as version 1")]
        members = Membership.objects.filter(collection=collection, role__in=[Role.RATER, Role.LEAD])
        self.members: Sequence[Membership] = list(members.select_related("user"))
        self.fields["raters"].choices = [
            (str(member.user.uuid), f"{member.user.get_username()} ({member.role})") for member in self.members
        ]

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
