"""Signal: documents of a category that is new since the labels were frozen."""

from __future__ import annotations

from assay.staleness.new_values import new_values
from assay.staleness.signal import SHARE, Signal

CATEGORY = Signal(
    name="category",
    title="New categories",
    measures="The share of the documents whose category was not there when the labels were frozen; a declared one"
    " counts as the whole.",
    baseline="how many documents there were of each category",
    unit=SHARE,
    warn=0.0,
    stale=0.01,
    source="the project’s rule: a new category is a stratum of its own; below 1 % of the documents it only warns",
    action="new-stratum",
    look=new_values("category", "categories"),
)
