"""Signal: a recorded change of the index's schema or analyzer."""

from __future__ import annotations

from assay.staleness.recorded_changes import declared
from assay.staleness.signal import COUNT, Signal

SCHEMA = Signal(
    name="schema",
    title="Schema or analyzer changed",
    measures="The number of recorded changes that are newer than some of the ratings behind these labels.",
    baseline="the dates of the ratings",
    unit=COUNT,
    warn=None,
    stale=0,
    source="Assay's rule: after a change, pool again and rerate a fifth of the judged pairs",
    action="repool-overlap",
    look=declared("schema", "schema change"),
)
