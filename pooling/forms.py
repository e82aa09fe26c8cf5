"""What may be typed into the pages of logs, runs and pools?"""

from __future__ import annotations

from typing import Any

from django import forms

from judgments.core.errors import NotValid
from judgments.core.parameters import Parameter
from judgments.forms import AssayForm
from judgments.models import Collection
from pooling.pair_lists import PairList, read_pairs
from pooling.query_logs import DEFAULT_SIZES, LONGEST_WINDOW, MOST_QUERIES
from pooling.sampling.draw import PPS, STRATIFIED
from pooling.sampling.log import WINDOW_DAYS
from pooling.sampling.tiers import HEAD_SHARE, TORSO_SHARE
from pooling.strategies.strategy import Strategy

BIGGEST_SEED = 2**31 - 1
# What an adaptive strategy is asked for at once, where nobody says.
FIRST_BATCH = 10
MOST_PAIRS_BYTES = 16 * 1024 * 1024
ORDER_WORDS = [("rank", "by its ranks, as shown to users"), ("score", "by document id, as metrics do")]


def seed_field() -> forms.IntegerField:
    """The seed of a draw, the same on every page."""
    return forms.IntegerField(
        label="Seed", min_value=0, max_value=BIGGEST_SEED, help_text="The same seed draws the same again."
    )


class DrawForm(AssayForm):
    """How queries are drawn from a log."""

    method = forms.ChoiceField(
        choices=[
            (STRATIFIED, "by tier: so many of head, torso and tail, each tier at random"),
            (PPS, "by traffic: over the whole log, frequent queries with a greater chance"),
        ],
        widget=forms.RadioSelect,
    )
    head = forms.IntegerField(label="Head", min_value=0, max_value=MOST_QUERIES)
    torso = forms.IntegerField(label="Torso", min_value=0, max_value=MOST_QUERIES)
    tail = forms.IntegerField(label="Tail", min_value=0, max_value=MOST_QUERIES)
    n = forms.IntegerField(label="How many, when drawn by traffic", min_value=1, max_value=MOST_QUERIES)
    seed = seed_field()
    window_days = forms.IntegerField(
        label="Days before the log's last search (optional)",
        required=False,
        min_value=1,
        max_value=LONGEST_WINDOW,
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
        "window_days": WINDOW_DAYS,
        "head_share": HEAD_SHARE,
        "torso_share": TORSO_SHARE,
    }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        head, torso = cleaned.get("head_share"), cleaned.get("torso_share")
        if head and torso and head > torso:
            self.add_error("head_share", f"The head ends before the torso does: at most {torso} here.")
        return cleaned

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
            if not parameter.is_list:
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
        if self.strategy.adaptive:
            self.fields["budget"].help_text = (
                "Pairs a query at most. This strategy learns from grades: take a few, have them judged, and ask again. "
                "What is judged, or waits in a round, is left out."
            )
            return
        self.fields["leave_out_judged"] = forms.BooleanField(
            label="Leave out what has a human grade already", required=False
        )

    @staticmethod
    def defaults(collection: Collection, strategy: Strategy) -> dict[str, Any]:
        """All runs, the strategy's own defaults, and no limits but a batch for who learns; no run for a given list."""
        return {
            "runs": [] if strategy.name == "list" else [str(run.uuid) for run in collection.runs.all()],
            **{parameter.name: parameter.default for parameter in strategy.parameters if not parameter.is_list},
            **({"budget": FIRST_BATCH} if strategy.adaptive else {}),
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
        # A text box always sends CRLF; that is no oddity of the list.
        content = upload.read() if upload else (cleaned.get("pairs") or "").replace("\r\n", "\n").encode()
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
        # By identity: a residual of 0 equals False, and must be told.
        told = [(name, "on" if value is True else value) for name, value in single if value is not None]
        told = [(name, value) for name, value in told if value is not False]
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
