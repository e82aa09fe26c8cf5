"""Round settings as a JSON body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from judgments.api.strict import Strict
from judgments.round_settings import LONGEST_QUALIFICATION, NAMES, SHARES, WHOLE


class SettingsBody(Strict):
    """Everything about a round beside its pairs, scale, guidelines, raters and seed; what is left out stays."""

    ratings_per_pair = serializers.IntegerField(required=False, min_value=1, max_value=20)
    overlap = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text="Share of the pairs that get all their ratings."
    )
    breadth_first = serializers.BooleanField(
        required=False, help_text="Every pair once before any a second time; else each query to its end."
    )
    extra_at = serializers.IntegerField(
        required=False, allow_null=True, help_text="Grades so many steps apart call in another rater; null: never."
    )
    extra_most = serializers.IntegerField(required=False, help_text="How many more raters a pair gets so, at most.")
    walk_in = serializers.BooleanField(required=False, help_text="Raters of the collection may come by unasked.")
    qualification = serializers.CharField(
        required=False, allow_blank=True, max_length=LONGEST_QUALIFICATION, help_text="What raters must be fit for."
    )
    by_language = serializers.BooleanField(required=False, help_text="Only queries in languages that a rater reads.")
    repeat_share = serializers.FloatField(required=False, help_text="Share of a rater's own pairs shown again.")
    gold_every = serializers.IntegerField(
        required=False, allow_null=True, help_text="One pair of known grade in so many; null mixes in none."
    )
    pass_mark = serializers.FloatField(
        required=False, allow_null=True, help_text="Share of the calibration to be right; null asks for none."
    )
    pass_within = serializers.IntegerField(required=False, help_text="Steps off that still count as right there.")
    gate_coefficient = serializers.CharField(required=False, max_length=40)
    gate_threshold = serializers.FloatField(required=False, help_text="What the coefficient is held against.")
    as_list = serializers.BooleanField(required=False, help_text="Documents as a list at first.")

    def get_fields(self) -> dict[str, serializers.Field]:
        """The bounds of a value are told in the words of the verb, which knows them."""
        found = super().get_fields()
        for name, (_, _, said) in {**WHOLE, **SHARES}.items():
            found[name].help_text = found[name].help_text or said
        return found


def settings_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the body's values that are settings."""
    return {name: body[name] for name in NAMES if name in body}
