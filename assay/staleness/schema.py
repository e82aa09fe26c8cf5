"""Signal: a recorded change of the index's schema or analyzer."""

from __future__ import annotations

from assay.staleness.recorded_changes import declared
from assay.staleness.signal import COUNT, Signal

SCHEMA = Signal(
    name="schema",
    title="Schema or analyzer changed",
    measures="How many such changes were declared for a day after ratings of these labels.",
    baseline="when the ratings were given",
    unit=COUNT,
    warn=None,
    stale=0,
    source="the project’s rule: pool again, and rate a fifth of the judged pairs once more",
    action="repool-overlap",
    look=declared("schema", "change of the schema"),
)
