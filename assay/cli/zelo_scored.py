"""Scores saved from an interrupted reranker run, next to the output, so that no query is scored twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.files import STDIN
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.preferences.rerankers import Candidates


class Scored:
    """A JSONL file beside the run, there while not all queries are scored.

    Parameters
    ----------
    out : str or None
        The run; nothing is kept for standard output.
    who : str
        The reranker: scores of another one are not taken for its own.
    """

    def __init__(self, out: str | None, who: str) -> None:
        path = None if out in (None, STDIN) else Path(str(out))
        self.path = None if path is None else path.with_name(f"{path.name}.scored.jsonl")
        self._who = who

    def known(self, queries: Sequence[Candidates], *, resume: bool) -> dict[str, list[float]]:
        """Return what is scored already, by query; a line that a killed run left half written is none.

        Raises
        ------
        NotValid
            Nothing to go on with is named, or there is something and nobody said to go on with it.
        """
        if self.path is None:
            if resume:
                raise NotValid("--resume goes on with the run that --out names; name it")
            return {}
        if not self.path.exists():
            return {}
        if not resume:
            what = f"{self.path}: holds the scores of a run that did not come to its end"
            raise NotValid(f"{what}; give --resume to go on with it, or remove the file to begin anew")
        lines = self.path.read_bytes().split(b"\n")[:-1]
        self.path.write_bytes(b"".join(line + b"\n" for line in lines))
        try:
            kept = {str(line["key"]): list(map(float, line["scores"])) for line in map(json.loads, lines)}
        except (KeyError, TypeError, ValueError):
            raise NotValid(f"{self.path}: is no file of scores; remove it to begin anew") from None
        keys = {one.query_id: self._key(one) for one in queries}
        if kept and not kept.keys() & set(keys.values()):
            what = f"{self.path}: holds scores of another reranker, or of other documents"
            raise NotValid(f"{what}; give the same command as before, or remove the file to begin anew")
        return {query_id: kept[key] for query_id, key in keys.items() if key in kept}

    @contextmanager
    def opened(self) -> Iterator[Callable[[Candidates, list[float]], None]]:
        """Yield a function that writes the scores of one query, and keeps nothing back."""
        if self.path is None:
            yield lambda one, scores: None
            return
        with self.path.open("ab") as stream:

            def keep(one: Candidates, scores: list[float]) -> None:
                told = {"query_id": one.query_id, "key": self._key(one), "scores": scores}
                stream.write(json.dumps(told).encode() + b"\n")
                stream.flush()

            yield keep

    def done(self) -> None:
        """All is in the run: nothing is left to go on with."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _key(self, one: Candidates) -> str:
        told = [self._who, one.query_id, one.query, one.doc_ids, one.texts]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()
