"""Drafters: proposals of a query's need for a person to complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.registry import Family

if TYPE_CHECKING:
    from judgments.queries.drafting.drafter import Drafter

__all__ = ["DRAFTERS"]

DRAFTERS: Family[Drafter] = Family(
    "drafter", {"template": "judgments.queries.drafting.template:TEMPLATE"}, group="assay.drafters"
)
