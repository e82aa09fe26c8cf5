"""Add scores to the lines of a zbench data set and keep everything else unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path


def annotate(path: str, scores: Mapping[tuple[str, str], float], *, every: bool = False) -> Iterator[str]:
    """Yield the lines of a data set with a score for each document."""
    for line in Path(path).read_text(encoding="utf-8-sig").split("\n"):
        if not line.strip():
            continue
        record = json.loads(line)
        query_id = str(record["query"]["id"])
        if not every and not any((query_id, str(one["id"])) in scores for one in record["documents"]):
            continue
        for one in record["documents"]:
            one["score"] = scores.get((query_id, str(one["id"])), 0.0)
        yield json.dumps(record, ensure_ascii=False) + "\n"
