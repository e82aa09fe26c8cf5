"""Output file of a judge: read the labels already in it and append more."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from assay.cli.files import STDIN
from assay.cli.spilled import Spilled, pair_key
from judgments.core.errors import NotValid, UnreadableInput

if TYPE_CHECKING:
    from judgments.formats.labels_jsonl import MachineLabel

BLOCK = 1 << 16


class LabelFile:
    """The output of a judge: a labels.jsonl, or standard output.

    Parameters
    ----------
    out : str or None
        The path; None or ``-`` is standard output.
    """

    def __init__(self, out: str | None) -> None:
        self._path = None if out is None or out == STDIN else Path(out)

    def holds(self, judge: str, parameters: Mapping[str, Any], *, mend: bool, again: Collection[str] = ()) -> Spilled:
        """Return the pairs that are in the file (by `pair_key`), with their grades, without holding them.

        Parameters
        ----------
        judge, parameters : str, mapping
            Who is to add more: labels of different judges do not belong into one file.
        mend : bool
            Whether a last line that a killed run left half written is cut off in the file, too.
        again : collection of str
            Outcomes that are no answer: their pairs are to be judged again, and their lines are taken out.

        Raises
        ------
        NotValid
            For standard output, or when the file is another judge's.
        UnreadableInput
            When the file cannot be read as labels.
        """
        if self._path is None:
            raise NotValid("--resume needs --out FILE, the file that is to be completed")
        found, answers, without = Spilled(), Spilled(), 0
        for row in self._rows(mend):
            if (row.judge, row.parameters) != (judge, parameters):
                theirs = f"{row.judge or 'another judge'} with {row.parameters}"
                what = f"{self._path}:{row.line}: a label of {theirs}, not of {judge} with {parameters}"
                raise NotValid(f"{what}; write to another file")
            self._refuse_two(row, answers)
            if row.outcome in again:
                without += 1
            else:
                found[pair_key(row.query_id, row.doc_id)] = row.grade
        if mend and without:
            self._rewrite(row for row in self._rows(mend) if row.outcome not in again)
        return found

    def _refuse_two(self, row: MachineLabel, answers: Spilled) -> None:
        """Refuse a file in which one model gives a pair two answers in the same words."""
        key = "\n".join((row.query_id, row.doc_id, row.model, row.prompt_sha256))
        answer = row.outcome if row.grade is None and row.usefulness is None else [row.grade, row.usefulness]
        first = answers.setdefault(key, [row.line, answer])
        if first[1] != answer:
            what = f"{row.query_id} {row.doc_id} is answered again, in another way than on line {first[0]}"
            raise UnreadableInput(str(self._path), row.line, what, "keep one of the two", "E16")

    def _rows(self, mend: bool) -> Iterator[MachineLabel]:
        """The answers in the file, as they come."""
        from judgments.formats import labels_jsonl

        size = whole_lines(self._path, mend, "its pair is judged again")
        if self._path is None or not size:
            return
        with self._path.open("rb") as stream:
            yield from labels_jsonl.stream(cast(BinaryIO, Beginning(stream, size)), str(self._path))

    @contextmanager
    def opened(self, *, append: bool) -> Iterator[Callable[[Sequence[MachineLabel]], None]]:
        """Yield a function that writes a batch and keeps none of it back, so that a killed run loses nothing."""
        from judgments.formats import labels_jsonl

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
        """At once or not at all: a killed run leaves the old file or the new one."""
        from judgments.formats import labels_jsonl

        assert self._path is not None  # noqa: S101 (without a file nothing was read)
        fresh = self._path.with_name(f"{self._path.name}.new")
        with fresh.open("wb") as stream:
            labels_jsonl.write(rows, stream)
        fresh.replace(self._path)


class Beginning:
    """The first bytes of a file, to be read."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream, self._left = stream, size

    def read(self, size: int = -1) -> bytes:
        """Return what is next."""
        data = self._stream.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data


def whole_lines(path: Path | None, mend: bool, what: str) -> int:
    """Return how many bytes of a file end with a line end; the rest, which a killed run left, is cut off."""
    if path is None or not path.exists():
        return 0
    with path.open("r+b" if mend else "rb") as stream:
        size = end = stream.seek(0, 2)
        rest = b""
        while end and b"\n" not in rest:
            begin = max(0, end - BLOCK)
            stream.seek(begin)
            rest, end = stream.read(end - begin), begin
        whole = end + rest.rfind(b"\n") + 1
        if whole < size and mend:
            sys.stderr.write(f"note: {path}: the last line has no end; cut off, {what}\n")
            stream.truncate(whole)
    return whole
