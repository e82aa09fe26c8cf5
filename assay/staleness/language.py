"""Signal: documents in a language that is new since the labels were frozen."""

from __future__ import annotations

from assay.staleness.new_values import new_values
from assay.staleness.signal import SHARE, Signal

LANGUAGE = Signal(
    name="language",
    title="New languages",
    measures=(
        "The share of documents whose language did not exist when the labels were frozen; a recorded language "
        "counts as 100%."
    ),
    baseline="the number of documents per language",
    unit=SHARE,
    warn=0.0,
    stale=0.01,
    source="Assay's rule: a new language needs a separate stratum; below 1% of the documents it is only a warning",
    action="new-stratum",
    look=new_values("language", "languages"),
)
