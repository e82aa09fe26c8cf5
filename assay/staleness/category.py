"""Signal: documents of a category that is new since the labels were frozen."""

from __future__ import annotations

from assay.staleness.new_values import new_values
from assay.staleness.signal import SHARE, Signal

CATEGORY = Signal(
    name="category",
    title="New categories",
    measures=(
        "The share of documents whose category did not exist when the labels were frozen; a recorded category "
        "counts as 100%."
    ),
    baseline="the number of documents per category",
    unit=SHARE,
    warn=0.0,
    stale=0.01,
    source="Assay's rule: a new category needs a separate stratum; below 1% of the documents it is only a warning",
    action="new-stratum",
    look=new_values("category", "categories"),
)
