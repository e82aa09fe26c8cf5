"""Serializer base class that rejects unknown keys by name, and fields for lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers


class Strict(serializers.Serializer):
    """Request body that rejects unknown keys by name, so that a misspelled key is not ignored."""

    FIXED: Mapping[str, str] = {}

    def to_internal_value(self, data: Any) -> Any:
        names = [name for name, field in self.fields.items() if not field.read_only]
        strange = sorted(set(data) - set(names)) if isinstance(data, Mapping) else []
        if strange:
            message = f"Unknown field. Known fields: {', '.join(names)}."
            raise serializers.ValidationError({name: self.FIXED.get(name, message) for name in strange})
        return super().to_internal_value(data)


class Texts(serializers.ListField):
    """A list of texts."""

    child = serializers.CharField()


class Values(serializers.ListField):
    """A list of any JSON values."""

    child = serializers.JSONField()


class Seed(serializers.IntegerField):
    """A whole number that the database can keep; the same seed gives the same draw."""

    def __init__(self, **kwargs: Any) -> None:
        given = {"default": 1, "min_value": -(2**63), "max_value": 2**63 - 1}
        super().__init__(**{**given, "help_text": "The same seed gives the same draw.", **kwargs})
