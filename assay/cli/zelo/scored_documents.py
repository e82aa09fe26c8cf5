"""Scores saved from an interrupted reranker run, next to the output, so that no query is scored twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.inputs.files import STDIN
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.llm.rerankers import Candidates


class Scored:
    """A JSONL file next to the run, which exists until all queries are scored."""

    def __init__(self, out: str | None, who: str) -> None:
        path = None if out in (None, STDIN) else Path(str(out))
        self.path = None if path is None else path.with_name(f"{path.name}.scored.jsonl")
        self._who = who

    def known(self, queries: Sequence[Candidates], *, resume: bool) -> dict[str, list[float]]:
        """Return the saved scores by query; an incomplete last line is ignored."""
        if self.path is None:
            if resume:
                raise NotValid("--resume needs --out FILE with the run to complete")
            return {}
        if not self.path.exists():
            return {}
        if not resume:
            what = f"{self.path}: has the scores of an interrupted run"
            raise NotValid(f"{what}; use --resume to continue it, or remove the file to start again")
        lines = self.path.read_bytes().split(b"\n")[:-1]
        self.path.write_bytes(b"".join(line + b"\n" for line in lines))
        try:
            stored = {str(line["key"]): list(map(float, line["scores"])) for line in map(json.loads, lines)}
        except (KeyError, TypeError, ValueError):
            raise NotValid(f"{self.path}: is not a score file; remove it to start again") from None
        keys = {one.query_id: self._key(one) for one in queries}
        if stored and not stored.keys() & set(keys.values()):
            what = f"{self.path}: has scores of another reranker or other documents"
            raise NotValid(f"{what}; run the same command as before, or remove the file to start again")
        return {query_id: stored[key] for query_id, key in keys.items() if key in stored}

    @contextmanager
    def opened(self) -> Iterator[Callable[[Candidates, list[float]], None]]:
        """Yield a function that writes and flushes the scores of one query."""
        if self.path is None:
            yield lambda one, scores: None
            return
        with self.path.open("ab") as stream:

            def keep(one: Candidates, scores: list[float]) -> None:
                record = {"query_id": one.query_id, "key": self._key(one), "scores": scores}
                stream.write(json.dumps(record).encode() + b"\n")
                stream.flush()

            yield keep

    def done(self) -> None:
        """Remove the file, once the run is complete."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _key(self, one: Candidates) -> str:
        identity = [self._who, one.query_id, one.query, one.doc_ids, one.texts]
        return hashlib.sha256(json.dumps(identity).encode()).hexdigest()
