"""File of open provider batches, sent and not yet fetched, with the keys of their questions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from judgments.core.errors import NotValid


class BatchFile:
    """The ids of open batches with the keys of their questions, in a file that goes when none is open.

    Parameters
    ----------
    path : Path
        Beside the ledger.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> dict[str, list[str]]:
        """Read it.

        Raises
        ------
        NotValid
            It holds something else.
        """
        if not self._path.exists():
            return {}
        try:
            told = json.loads(self._path.read_text(encoding="utf-8"))
            return {str(batch): [str(key) for key in keys] for batch, keys in told["batches"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NotValid(f"{self._path}: holds no batches; move it away to begin anew") from None

    def save(self, batches: Mapping[str, Sequence[str]]) -> None:
        """Write it at once, or take it away."""
        if not batches:
            self._path.unlink(missing_ok=True)
            return
        fresh = self._path.with_name(f"{self._path.name}.new")
        told = {"batches": {batch: list(keys) for batch, keys in batches.items()}}
        fresh.write_text(json.dumps(told), encoding="utf-8")
        fresh.replace(self._path)
