"""Template tag for the navigation: the eight steps of a collection with their states."""

from __future__ import annotations

from typing import Any

from django import template

from evaluation.overview import stages
from judgments.models import Collection
from judgments.web import access

register = template.Library()


@register.inclusion_tag("_way.html", takes_context=True)
def way_of_the_data(context: dict[str, Any], collection: Collection) -> dict[str, Any]:
    """Return the eight steps with their states; empty for raters, who see only their own work."""
    user = context["request"].user
    role = context["my_role"]
    if role not in access.STAFF:
        return {"steps": []}
    shared = {"request": context["request"], "collection": collection, "role": role}
    return {**shared, "steps": stages.steps(collection, user), "current": context.get("step", "")}
