"""Serializer field for the seed of a random draw."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class Seed(serializers.IntegerField):
    """A whole number that the database can keep; the same seed gives the same draw."""

    def __init__(self, **kwargs: Any) -> None:
        given = {"default": 1, "min_value": -(2**63), "max_value": 2**63 - 1}
        super().__init__(**{**given, "help_text": "The same seed gives the same draw.", **kwargs})
