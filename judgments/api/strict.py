"""Serializer base class that rejects unknown keys by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers


class Strict(serializers.Serializer):
    """A body in which a key that nobody reads is refused by name: a typing error would else pass for a setting.

    Attributes
    ----------
    FIXED : mapping of str to str
        Keys that are known and cannot be sent here, each with what is said then.
    """

    FIXED: Mapping[str, str] = {}

    def to_internal_value(self, data: Any) -> Any:
        names = [name for name, field in self.fields.items() if not field.read_only]
        strange = sorted(set(data) - set(names)) if isinstance(data, Mapping) else []
        if strange:
            said = f"Nothing here is called so. Known: {', '.join(names)}."
            raise serializers.ValidationError({name: self.FIXED.get(name, said) for name in strange})
        return super().to_internal_value(data)
