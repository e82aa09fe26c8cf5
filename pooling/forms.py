"""Forms of the query log and run pages."""

from __future__ import annotations

from typing import Any

from django import forms

from judgments.forms import AssayForm
from pooling.query_logs import DEFAULT_SIZES, LONGEST_WINDOW, MOST_QUERIES, MOST_RANKS
from pooling.run_families import family_field
from pooling.sampling.counted import WINDOW_DAYS
from pooling.sampling.draw import PPS, STRATIFIED
from pooling.sampling.tiers import HEAD_SHARE, TORSO_SHARE

BIGGEST_SEED = 2**31 - 1


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
    head_ranks = forms.IntegerField(
        label="Or the head ends at rank (optional)",
        required=False,
        min_value=1,
        max_value=MOST_RANKS,
        help_text="500 takes the 500 most frequent queries, whatever their traffic. Ranks go before shares.",
    )
    torso_ranks = forms.IntegerField(
        label="And the torso at rank (optional)", required=False, min_value=1, max_value=MOST_RANKS
    )
    language = forms.CharField(
        label="Only searches in (optional)",
        required=False,
        max_length=40,
        help_text="A language as the log names it: de takes de-AT too.",
    )
    detect = forms.FloatField(
        label="A difference to see (optional)",
        required=False,
        min_value=0.001,
        max_value=1,
        help_text="Of nDCG@10, say: the plan then tells how many queries it takes.",
    )

    DEFAULTS = {
        "method": STRATIFIED,
        **DEFAULT_SIZES,
        "n": sum(DEFAULT_SIZES.values()),
        "seed": 1,
        "window_days": WINDOW_DAYS,
        "head_share": HEAD_SHARE,
        "torso_share": TORSO_SHARE,
        "head_ranks": None,
        "torso_ranks": None,
        "language": "",
        "detect": None,
    }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        head, torso = cleaned.get("head_share"), cleaned.get("torso_share")
        if head and torso and head > torso:
            self.add_error("head_share", f"The head ends before the torso does: at most {torso} here.")
        ranks = [cleaned.get(name) for name in ("head_ranks", "torso_ranks")]
        if any(ranks) and not all(ranks):
            missing = "torso_ranks" if ranks[0] else "head_ranks"
            if missing not in self.errors:
                self.add_error(missing, "Give both ranks, or none.")
        elif all(ranks) and ranks[0] > ranks[1]:
            self.add_error("head_ranks", f"The head ends before the torso does: at most {ranks[1]:,} here.")
        return cleaned

    @property
    def values(self) -> dict[str, Any]:
        """What is asked for: the form's where it holds, else the defaults."""
        return self.cleaned_data if self.is_bound and self.is_valid() else self.DEFAULTS


class RenameForm(AssayForm):
    """Another name for a run."""

    name = forms.CharField(max_length=120)


class FamilyForm(AssayForm):
    """Whose language model has a part in a run."""

    generator_family = family_field()
