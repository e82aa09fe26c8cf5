"""Which pairs does a file of labels hold already, and how are more added to it?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.files import STDIN
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.formats.labels_jsonl import MachineLabel


class LabelFile:
    """The output of a judge: a labels.jsonl, or standard output.

    Parameters
    ----------
    out : str or None
        The path; None or ``-`` is standard output.
    """

    def __init__(self, out: str | None) -> None:
        self._path = None if out is None or out == STDIN else Path(out)

    def holds(
        self, judge: str, parameters: Mapping[str, Any], *, mend: bool, again: Collection[str] = ()
    ) -> dict[tuple[str, str], int | None]:
        """Return the pairs that are in the file, with their grades.

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
        whole = self._whole_lines(mend)
        if not whole:
            return {}
        from judgments.formats import labels_jsonl

        found = labels_jsonl.read(whole, path=str(self._path))
        found.report.raise_if_errors()
        for row in found.rows:
            if (row.judge, row.parameters) != (judge, parameters):
                theirs = f"{row.judge or 'another judge'} with {row.parameters}"
                what = f"{self._path}:{row.line}: a label of {theirs}, not of {judge} with {parameters}"
                raise NotValid(f"{what}; write to another file")
        kept = [row for row in found.rows if row.outcome not in again]
        if mend and len(kept) < len(found.rows):
            self._rewrite(kept)
        return {(row.query_id, row.doc_id): row.grade for row in kept}

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

    def _rewrite(self, rows: Sequence[MachineLabel]) -> None:
        """At once or not at all: a killed run leaves the old file or the new one."""
        from judgments.formats import labels_jsonl

        assert self._path is not None  # noqa: S101 (without a file nothing was read)
        fresh = self._path.with_name(f"{self._path.name}.new")
        with fresh.open("wb") as stream:
            labels_jsonl.write(rows, stream)
        fresh.replace(self._path)

    def _whole_lines(self, mend: bool) -> bytes:
        if self._path is None or not self._path.exists():
            return b""
        data = self._path.read_bytes()
        end = data.rfind(b"\n") + 1
        if end < len(data) and mend:
            sys.stderr.write(f"note: {self._path}: the last line has no end; cut off, its pair is judged again\n")
            with self._path.open("r+b") as stream:
                stream.truncate(end)
        return data[:end]
