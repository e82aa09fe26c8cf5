"""Signal: a recorded change of the embedding model."""

from __future__ import annotations

from assay.staleness.recorded_changes import declared
from assay.staleness.signal import COUNT, Signal

EMBEDDING = Signal(
    name="embedding",
    title="Embeddings changed",
    measures="The number of recorded changes that are newer than some of the ratings behind these labels.",
    baseline="the dates of the ratings",
    unit=COUNT,
    warn=None,
    stale=0,
    source="Assay's rule: a new model changes all rankings, so pool all queries again",
    action="repool",
    look=declared("embedding", "embedding change"),
)
