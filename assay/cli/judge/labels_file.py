"""Output file of a judge: read the labels already in it and append more."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from assay.cli.inputs.files import STDIN
from assay.core.disk_mapping import DiskMapping, pair_key
from assay.core.errors import NotValid, UnreadableInput
from assay.llm.judges.ledger import whole_lines

if TYPE_CHECKING:
    from assay.formats.labels_jsonl import MachineLabel


class LabelFile:
    """The output of a judge: a labels.jsonl, or standard output."""

    def __init__(self, out: str | None) -> None:
        self._path = None if out is None or out == STDIN else Path(out)

    def holds(
        self, judge: str, parameters: Mapping[str, Any], *, repair: bool, again: Collection[str] = ()
    ) -> DiskMapping:
        """Return the pairs in the file (by `pair_key`) with their grades, stored on disk."""
        if self._path is None:
            raise NotValid("--resume needs --out FILE with the file to complete")
        grades, answers, without = DiskMapping(), DiskMapping(), 0
        for row in self._rows(repair):
            if (row.judge, row.parameters) != (judge, parameters):
                theirs = f"{row.judge or 'another judge'} with {row.parameters}"
                what = f"{self._path}:{row.line}: this label is from {theirs}, not from {judge} with {parameters}"
                raise NotValid(f"{what}; write to another file")
            self._refuse_two(row, answers)
            if row.outcome in again:
                without += 1
            else:
                grades[pair_key(row.query_id, row.doc_id)] = row.grade
        if repair and without:
            self._rewrite(row for row in self._rows(repair) if row.outcome not in again)
        return grades

    def _refuse_two(self, row: MachineLabel, answers: DiskMapping) -> None:
        """Reject a file with two answers of a model to the same prompt."""
        key = "\n".join((row.query_id, row.doc_id, row.model, row.prompt_sha256))
        answer = row.outcome if row.grade is None and row.usefulness is None else [row.grade, row.usefulness]
        first = answers.setdefault(key, [row.line, answer])
        if first[1] != answer:
            what = f"{row.query_id} {row.doc_id} has a different answer than on line {first[0]}"
            raise UnreadableInput(str(self._path), row.line, what, "keep one of them", "E16")

    def _rows(self, repair: bool) -> Iterator[MachineLabel]:
        """Yield the labels in the file."""
        from assay.formats import labels_jsonl

        size = whole_lines(self._path, repair, "its pair will be judged again")
        if self._path is None or not size:
            return
        with self._path.open("rb") as stream:
            yield from labels_jsonl.stream(cast(BinaryIO, Beginning(stream, size)), str(self._path))

    @contextmanager
    def opened(self, *, append: bool) -> Iterator[Callable[[Sequence[MachineLabel]], None]]:
        """Yield a function that writes and flushes a batch, so that a killed run loses nothing."""
        from assay.formats import labels_jsonl

        stream = sys.stdout.buffer if self._path is None else self._path.open("ab" if append else "wb")

        def add(rows: Sequence[MachineLabel]) -> None:
            labels_jsonl.write(rows, stream)
            stream.flush()

        try:
            yield add
        finally:
            if self._path is not None:
                stream.close()

    def _rewrite(self, rows: Iterable[MachineLabel]) -> None:
        """Replace the file atomically; a killed run leaves the old file or the new one."""
        from assay.formats import labels_jsonl

        assert self._path is not None  # noqa: S101 (rows come from the file)
        fresh = self._path.with_name(f"{self._path.name}.new")
        with fresh.open("wb") as stream:
            labels_jsonl.write(rows, stream)
        fresh.replace(self._path)


class Beginning:
    """Stream over the first bytes of a file."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream, self._left = stream, size

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        data = self._stream.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data
