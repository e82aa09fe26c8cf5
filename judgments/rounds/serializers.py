"""JSON bodies of round settings, and of the query and the document of a pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from judgments.rounds.settings import LONGEST_QUALIFICATION, NAMES, SHARES, WHOLE
from judgments.web.serializers import Strict


class QueryOfPair(serializers.Serializer):
    """The query of a pair."""

    id = serializers.CharField(source="query_id")
    text = serializers.CharField()


class DocumentOfPair(serializers.Serializer):
    """The document of a pair."""

    id = serializers.CharField(source="doc_id")
    title = serializers.CharField()


class SettingsBody(Strict):
    """Settings of a round other than pairs, scale, guidelines, raters and seed. Omitted settings stay."""

    ratings_per_pair = serializers.IntegerField(required=False, min_value=1, max_value=20)
    overlap = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text="Share of the pairs that get all their ratings."
    )
    breadth_first = serializers.BooleanField(
        required=False,
        help_text="True: every pair gets one rating before any gets a second. False: queries are completed one by one.",
    )
    extra_at = serializers.IntegerField(
        required=False, allow_null=True, help_text="Add a rater when grades differ by this many steps; null: never."
    )
    extra_most = serializers.IntegerField(required=False, help_text="Maximum number of raters added to a pair.")
    walk_in = serializers.BooleanField(required=False, help_text="Raters of the collection can join themselves.")
    qualification = serializers.CharField(
        required=False, allow_blank=True, max_length=LONGEST_QUALIFICATION, help_text="Qualification that raters need."
    )
    by_language = serializers.BooleanField(required=False, help_text="Raters get only queries in languages they read.")
    repeat_share = serializers.FloatField(
        required=False, help_text="Share of a rater's own pairs shown again as repeats."
    )
    gold_every = serializers.IntegerField(
        required=False, allow_null=True, help_text="One gold pair per this many pairs; null: none."
    )
    pass_mark = serializers.FloatField(
        required=False,
        allow_null=True,
        help_text="Share of correct gold pairs required to qualify; null: no qualification.",
    )
    pass_within = serializers.IntegerField(
        required=False, help_text="Steps from the gold grade that still count as correct."
    )
    gate_coefficient = serializers.CharField(required=False, max_length=40)
    gate_threshold = serializers.FloatField(required=False, help_text="Threshold of the coefficient.")
    as_list = serializers.BooleanField(required=False, help_text="Show documents as a list at first.")

    def get_fields(self) -> dict[str, serializers.Field]:
        """Leave the bounds of values to the action, which knows them."""
        fields = super().get_fields()
        for name, (_, _, text) in {**WHOLE, **SHARES}.items():
            fields[name].help_text = fields[name].help_text or text
        return fields


def settings_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the body that are settings."""
    return {name: body[name] for name in NAMES if name in body}
