"""Signal: documents in a language that is new since the labels were frozen."""

from __future__ import annotations

from assay.staleness.new_values import new_values
from assay.staleness.signal import SHARE, Signal

LANGUAGE = Signal(
    name="language",
    title="New languages",
    measures="The share of the documents whose language was not there when the labels were frozen; a declared one"
    " counts as the whole.",
    baseline="how many documents there were of each language",
    unit=SHARE,
    warn=0.0,
    stale=0.01,
    source="the project’s rule: a new language is a stratum of its own; below 1 % of the documents it only warns",
    action="new-stratum",
    look=new_values("language", "languages"),
)
