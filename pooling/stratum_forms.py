"""Form to add a part of the traffic to a collection."""

from __future__ import annotations

from typing import Any

from django import forms

from judgments.forms import AssayForm
from judgments.models import Collection
from judgments.strata import FIRST
from pooling import query_logs
from pooling.query_logs import DEFAULT_SIZES, MOST_QUERIES
from pooling.sampling.counted import WINDOW_DAYS
from pooling.sampling.draw import PPS, STRATIFIED

# The select's word for: work out from the log which stratum held this traffic.
BY_LOG = "by-log"
NEW_TRAFFIC = "new"
BIGGEST_SEED = 2**31 - 1


class StratumForm(AssayForm):
    """A stratum: what it is called, how much of the traffic it is, and which queries are drawn for it."""

    name = forms.CharField(max_length=100, help_text="For example shoes, or de.")
    log = forms.ModelChoiceField(
        None,
        to_field_name="uuid",
        required=False,
        label="Drawn from the log (optional)",
        empty_label="no log: all of the queries listed below",
    )
    words = forms.CharField(
        required=False,
        label="Words (optional)",
        max_length=2_000,
        help_text="Queries of the log that hold any of these, separated by commas.",
    )
    queries = forms.CharField(
        required=False,
        label="Queries (optional)",
        max_length=500_000,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        help_text="One a line. With a log these are what is drawn from; without one, all of them join.",
    )
    language = forms.CharField(
        required=False, label="Language (optional)", max_length=35, help_text="Where the log has a column for it."
    )
    whole = forms.ChoiceField(label="Its traffic was so far", required=False)
    share = forms.FloatField(
        label="Share of the whole traffic (optional)",
        required=False,
        min_value=0.000001,
        max_value=0.999999,
        help_text="Of all searches from now on: 0.2 is a fifth. Counted where the log held it all along.",
    )
    first = forms.CharField(
        label="What the queries so far are called", max_length=100, help_text="They become a stratum too."
    )
    method = forms.ChoiceField(
        label="Draw",
        choices=[(STRATIFIED, "by tier, cut inside the stratum"), (PPS, "by traffic")],
        widget=forms.RadioSelect,
    )
    head = forms.IntegerField(label="Head", min_value=0, max_value=MOST_QUERIES)
    torso = forms.IntegerField(label="Torso", min_value=0, max_value=MOST_QUERIES)
    tail = forms.IntegerField(label="Tail", min_value=0, max_value=MOST_QUERIES)
    n = forms.IntegerField(label="How many, when drawn by traffic", min_value=1, max_value=MOST_QUERIES)
    seed = forms.IntegerField(label="Seed", min_value=0, max_value=BIGGEST_SEED)
    window_days = forms.IntegerField(
        label="Days before the log’s last search (optional)",
        required=False,
        min_value=1,
        max_value=query_logs.LONGEST_WINDOW,
    )

    DEFAULTS = {
        "whole": BY_LOG,
        "first": FIRST,
        "method": STRATIFIED,
        **DEFAULT_SIZES,
        "n": sum(DEFAULT_SIZES.values()),
        "seed": 1,
        "window_days": WINDOW_DAYS,
    }

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        logs: Any = self.fields["log"]
        logs.queryset = collection.query_logs.all()
        strata = list(collection.strata.values_list("name", flat=True))
        names = strata or [FIRST]
        whole: Any = self.fields["whole"]
        whole.choices = [
            (BY_LOG, "worked out: part of the stratum that was drawn from the whole of the same log"),
            (NEW_TRAFFIC, "not here: new traffic"),
            *((f"in:{name}", f"part of {name}") for name in names),
        ]
        if strata:
            del self.fields["first"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "log" in cleaned and not cleaned["log"]:
            if not cleaned.get("queries", "").strip():
                self.add_error("queries", "List the queries, or choose a log to draw from.")
            if not cleaned.get("share") and "share" not in self.errors:
                self.add_error("share", "A list does not tell its traffic. Give a number such as 0.2.")
        return cleaned

    @property
    def part_of(self) -> str | None:
        """As :func:`pooling.strata.add_stratum` takes it."""
        whole = self.cleaned_data.get("whole") or BY_LOG
        return None if whole == BY_LOG else whole.removeprefix("in:") if whole != NEW_TRAFFIC else ""

    @property
    def common(self) -> dict[str, Any]:
        """What both ways of joining take."""
        cleaned = self.cleaned_data
        lines = [line.strip() for line in cleaned["queries"].splitlines() if line.strip()]
        told = {"name": cleaned["name"], "share": cleaned["share"], "queries": lines}
        return told | ({"first": cleaned["first"]} if cleaned.get("first") else {})

    @property
    def draw(self) -> dict[str, Any]:
        """How a log is drawn from."""
        cleaned = self.cleaned_data
        by_tier = cleaned["method"] == STRATIFIED
        return {
            "part_of": self.part_of,
            "words": [word.strip() for word in cleaned["words"].split(",") if word.strip()],
            "language": cleaned["language"],
            "method": cleaned["method"],
            "sizes": {tier: cleaned[tier] for tier in DEFAULT_SIZES} if by_tier else None,
            "n": None if by_tier else cleaned["n"],
            "seed": cleaned["seed"],
            "window_days": cleaned["window_days"],
        }
