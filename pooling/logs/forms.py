"""Form of the query log pages."""

from __future__ import annotations

from typing import Any

from django import forms

from assay.sampling.counted_log import WINDOW_DAYS
from assay.sampling.draw import PPS, STRATIFIED
from assay.sampling.tiers import HEAD_SHARE, TORSO_SHARE
from judgments.web.forms import AssayForm
from pooling.logs.query_logs import DEFAULT_SIZES, LONGEST_WINDOW, MOST_QUERIES, MOST_RANKS

BIGGEST_SEED = 2**31 - 1


def seed_field() -> forms.IntegerField:
    """Return the seed field, the same on every page."""
    return forms.IntegerField(
        label="Seed", min_value=0, max_value=BIGGEST_SEED, help_text="The same seed repeats the same draw."
    )


class DrawForm(AssayForm):
    """Settings of a draw of queries from a log."""

    method = forms.ChoiceField(
        choices=[
            (STRATIFIED, "by tier: a fixed number of queries from head, torso and tail, at random within each tier"),
            (PPS, "by traffic: from the whole log, with a higher probability for frequent queries"),
        ],
        widget=forms.RadioSelect,
    )
    head = forms.IntegerField(label="Head", min_value=0, max_value=MOST_QUERIES)
    torso = forms.IntegerField(label="Torso", min_value=0, max_value=MOST_QUERIES)
    tail = forms.IntegerField(label="Tail", min_value=0, max_value=MOST_QUERIES)
    n = forms.IntegerField(label="Number of queries (if drawn by traffic)", min_value=1, max_value=MOST_QUERIES)
    seed = seed_field()
    window_days = forms.IntegerField(
        label="Last days of the log (optional)",
        required=False,
        min_value=1,
        max_value=LONGEST_WINDOW,
        help_text="Leave empty to use the whole log. A log without timestamps is always used in full.",
    )
    head_share = forms.FloatField(
        label="Head ends at share", min_value=0.01, max_value=1, help_text="Share of the traffic: 0.5 is half."
    )
    torso_share = forms.FloatField(label="Torso ends at share", min_value=0.01, max_value=1)
    head_ranks = forms.IntegerField(
        label="Head ends at rank (optional)",
        required=False,
        min_value=1,
        max_value=MOST_RANKS,
        help_text="With 500, the 500 most frequent queries are the head. Ranks take precedence over shares.",
    )
    torso_ranks = forms.IntegerField(
        label="Torso ends at rank (optional)", required=False, min_value=1, max_value=MOST_RANKS
    )
    language = forms.CharField(
        label="Language (optional)",
        required=False,
        max_length=40,
        help_text="A language code from the log; de includes de-AT.",
    )
    detect = forms.FloatField(
        label="Difference to detect (optional)",
        required=False,
        min_value=0.001,
        max_value=1,
        help_text="For example, a difference in nDCG@10. The plan then shows how many queries you need.",
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
            self.add_error("head_share", f"The head must end before the torso. Enter at most {torso}.")
        ranks = [cleaned.get(name) for name in ("head_ranks", "torso_ranks")]
        if any(ranks) and not all(ranks):
            missing = "torso_ranks" if ranks[0] else "head_ranks"
            if missing not in self.errors:
                self.add_error(missing, "Enter both ranks, or neither.")
        elif all(ranks) and ranks[0] > ranks[1]:
            self.add_error("head_ranks", f"The head must end before the torso. Enter at most {ranks[1]:,}.")
        return cleaned

    @property
    def values(self) -> dict[str, Any]:
        """Return the requested values from the form if it is valid, otherwise the defaults."""
        return self.cleaned_data if self.is_bound and self.is_valid() else self.DEFAULTS
