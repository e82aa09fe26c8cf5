"""File of open provider batches, submitted and not yet fetched, with the keys of their questions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.core.errors import NotValid


class BatchFile:
    """File with the ids of open batches and the keys of their questions; removed when no batch is open."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> dict[str, list[str]]:
        """Return the keys of each open batch."""
        if not self._path.exists():
            return {}
        try:
            stored = json.loads(self._path.read_text(encoding="utf-8"))
            return {str(batch): [str(key) for key in keys] for batch, keys in stored["batches"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NotValid(f"{self._path}: is not a batch file; move it to start again") from None

    def save(self, batches: Mapping[str, Sequence[str]]) -> None:
        """Replace the file atomically, or remove it if no batch is open."""
        if not batches:
            self._path.unlink(missing_ok=True)
            return
        fresh = self._path.with_name(f"{self._path.name}.new")
        stored = {"batches": {batch: list(keys) for batch, keys in batches.items()}}
        fresh.write_text(json.dumps(stored), encoding="utf-8")
        fresh.replace(self._path)
