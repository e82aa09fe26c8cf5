"""Signal: a recorded change of the embedding model."""

from __future__ import annotations

from assay.staleness.recorded_changes import declared
from assay.staleness.signal import COUNT, Signal

EMBEDDING = Signal(
    name="embedding",
    title="Embeddings changed",
    measures="How many such changes were declared for a day after ratings of these labels.",
    baseline="when the ratings were given",
    unit=COUNT,
    warn=None,
    stale=0,
    source="the project’s rule: a new model ranks anew, so pool all queries again",
    action="repool",
    look=declared("embedding", "change of the embeddings"),
)
