"""Which keys of a body does a call take, and what is said of any other?"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class Strict(serializers.Serializer):
    """A body whose every key is known: a misspelt option that is passed over would draw something else unnoticed."""

    def to_internal_value(self, data: Any) -> Any:
        known = [name for name, field in self.fields.items() if not field.read_only]
        if isinstance(data, dict) and (strange := [str(name) for name in data if name not in known]):
            said = f"This call has no such field. It takes {', '.join(known)}."
            raise serializers.ValidationError({name: [said] for name in strange})
        return super().to_internal_value(data)
