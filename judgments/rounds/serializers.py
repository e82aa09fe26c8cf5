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
    """Settings of a round other than pairs, scale, guidelines, raters and seed. Omitted settings stay as they are."""

    ratings_per_pair = serializers.IntegerField(required=False, min_value=1, max_value=20)
    overlap = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text="Share of the pairs that get all their ratings."
    )
    breadth_first = serializers.BooleanField(
        required=False,
        help_text="If true, every pair gets one rating before any pair gets a second; if false, queries are completed "
        "one by one.",
    )
    extra_at = serializers.IntegerField(
        required=False, allow_null=True, help_text="Add a rater if grades differ by this many steps; null means never."
    )
    extra_most = serializers.IntegerField(required=False, help_text="Maximum number of raters added to a pair.")
    walk_in = serializers.BooleanField(
        required=False, help_text="Whether raters of the collection can join themselves."
    )
    qualification = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=LONGEST_QUALIFICATION,
        help_text="The qualification that raters need.",
    )
    by_language = serializers.BooleanField(
        required=False, help_text="Whether raters get only queries in languages that they read."
    )
    repeat_share = serializers.FloatField(
        required=False, help_text="Share of a rater's own pairs shown again as repeats."
    )
    gold_every = serializers.IntegerField(
        required=False, allow_null=True, help_text="One gold pair per this many pairs; null means none."
    )
    pass_mark = serializers.FloatField(
        required=False,
        allow_null=True,
        help_text="Share of correct gold pairs required to qualify; null means no qualification.",
    )
    pass_within = serializers.IntegerField(
        required=False, help_text="Maximum difference from the gold grade that counts as correct."
    )
    gate_coefficient = serializers.CharField(required=False, max_length=40)
    gate_threshold = serializers.FloatField(required=False, help_text="The threshold for the coefficient.")
    as_list = serializers.BooleanField(required=False, help_text="Whether documents are shown as a list at first.")

    def get_fields(self) -> dict[str, serializers.Field]:
        """Leave the limits of values to the action, which validates them."""
        fields = super().get_fields()
        for name, (_, _, text) in {**WHOLE, **SHARES}.items():
            fields[name].help_text = fields[name].help_text or text
        return fields


def settings_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in the request body."""
    return {name: body[name] for name in NAMES if name in body}
