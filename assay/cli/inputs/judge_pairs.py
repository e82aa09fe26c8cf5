"""Pairs of a ``pairs.jsonl`` that a judge has yet to grade, and the labels from its answers."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from assay.cli.inputs.files import STDIN, print_warnings
from assay.core.disk_mapping import DiskMapping, pair_key
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.formats.labels_jsonl import MachineLabel
    from assay.formats.row_types import PairRow
    from assay.llm.judge import Need
    from assay.llm.judges import Context, Outcome


# Maximum characters of documents in one portion.
MOST_HELD = 30_000_000


class PairFile:
    """The pairs of a file, read again for each iteration to limit memory use."""

    def __init__(self, path: str, needs: Sequence[Need]) -> None:
        self.path, self.needs = path, needs
        self._spool = _spooled(path)
        # Lines that repeat an earlier line.
        self._repeated: set[int] = set()
        # Number of pairs, and of pairs that have the needed fields.
        self.number = self.judgeable = 0
        self._check()

    def __iter__(self) -> Iterator[PairRow]:
        return (row for row in self._rows(self._opened()) if row.line not in self._repeated)

    def portions(self, size: int | None) -> Iterator[list[PairRow]]:
        """Yield up to `size` pairs at a time, or fewer if their texts are long; all pairs at once if None."""
        rows: list[PairRow] = []
        held = 0
        for row in self:
            rows.append(row)
            held += len(row.text)
            if size is not None and (len(rows) == size or held >= MOST_HELD):
                yield rows
                rows, held = [], 0
        if rows:
            yield rows

    def refuse_none(self, judge: str, earlier: int) -> None:
        """Reject a file in which no pair can be judged."""
        if self.number and not self.judgeable and not earlier:
            raise NotValid(
                f"{self.path}: no pair has all the fields that {judge} needs: {', '.join(self.needs)}; add them to "
                "the pairs"
            )

    def _opened(self) -> tuple[Any, Any]:
        from assay.formats import pairs_jsonl
        from assay.formats.reader import open_as

        source = Path(self._spool.name) if self._spool is not None else Path(self.path)
        return open_as(source, self.path, pairs_jsonl.NAME, pairs_jsonl.EXAMPLE.strip())

    @staticmethod
    def _rows(opened: tuple[Any, Any]) -> Iterator[PairRow]:
        from assay.formats import pairs_jsonl

        content, tally = opened
        with content:
            yield from pairs_jsonl.stream(content, tally)

    def _check(self) -> None:
        """Read the file once and check that its rows are valid and do not contradict each other."""
        import hashlib

        from assay.formats.reader import finish
        from assay.llm.judges import Context

        content, tally = opened = self._opened()
        known = DiskMapping()
        for row in self._rows(opened):
            key = pair_key(row.query_id, row.doc_id)
            digest = hashlib.sha256(repr(replace(row, line=0)).encode("utf-8", "backslashreplace")).hexdigest()
            first = known.get(key)
            if first is None:
                known[key] = [row.line, digest]
                self.number += 1
                lacks = Context(row.query, row.text, row.expected, row.narrative).lacks(self.needs)
                self.judgeable += not lacks
            elif first[1] == digest:
                self._repeated.add(row.line)
                tally.move("accepted", "duplicate")
                tally.once("W33", row.line, f"repeats line {first[0]}", done="counted once")
            else:
                tally.move("accepted", "conflict")
                what = f"repeats the pair {row.query_id} {row.doc_id} of line {first[0]} with different values"
                tally.note("E16", row.line, what, done="rejected", fix="keep one of them")
        report = finish(content, tally)
        report.raise_if_errors()
        print_warnings([report])


def _spooled(path: str) -> Any:
    """Copy a stream to a temporary file, because it is read more than once."""
    if path != STDIN and not Path(path).is_fifo():
        return None
    spool = NamedTemporaryFile()  # noqa: SIM115 (open as long as the pairs are used)
    with Path(path).open("rb") if path != STDIN else sys.stdin.buffer as stream:
        shutil.copyfileobj(stream, spool)
    spool.flush()
    return spool


@dataclass
class Pairs:
    """Pairs to judge, all of them or a portion."""

    ready: list[tuple[PairRow, Context]]
    lacking: list[tuple[PairRow, list[str]]]
    earlier: int

    @classmethod
    def of(cls, rows: Iterable[PairRow], needs: Sequence[Need], earlier: Container[str]) -> Pairs:
        """Sort the rows; those in `earlier` (by `pair_key`) are skipped."""
        from assay.llm.judges import Context

        pairs = cls([], [], 0)
        for row in rows:
            if pair_key(row.query_id, row.doc_id) in earlier:
                pairs.earlier += 1
                continue
            context = Context(row.query, row.text, row.expected, row.narrative)
            if missing := context.lacks(needs):
                pairs.lacking.append((row, list(missing)))
            else:
                pairs.ready.append((row, context))
        return pairs


@dataclass
class Totals:
    """Counts over all portions of pairs."""

    ready: int = 0
    lacking: int = 0
    earlier: int = 0
    first: tuple[PairRow, list[str]] | None = None

    def add(self, portion: Pairs) -> None:
        """Add a portion."""
        self.ready += len(portion.ready)
        self.lacking += len(portion.lacking)
        self.earlier += portion.earlier
        self.first = self.first or next(iter(portion.lacking), None)


def read_pairs(path: str) -> list[PairRow]:
    """Read pairs.jsonl and print its warnings."""
    from assay.formats import pairs_jsonl

    read = pairs_jsonl.read(Path(path), path=path).strict()
    print_warnings([read.report])
    return list(read.rows)


def label(
    pair: PairRow, outcome: Outcome, judge: str, parameters: Mapping[str, Any], model: str = "", prompt_sha256: str = ""
) -> MachineLabel:
    """Return the label of an outcome."""
    from assay.formats.labels_jsonl import MachineLabel

    return MachineLabel(
        pair.query_id,
        pair.doc_id,
        outcome.name,
        outcome.grade,
        outcome.relevant,
        judge=judge,
        model=model,
        prompt_sha256=prompt_sha256,
        parameters=parameters,
        probabilities=outcome.probabilities,
        rationale=outcome.rationale,
        raw=outcome.raw,
        tokens_in=outcome.tokens_in,
        tokens_out=outcome.tokens_out,
        cost_usd=outcome.cost_usd,
        usefulness=outcome.usefulness,
    )


def print_counts(path: str, pairs: Totals, counts: Mapping[str, int]) -> None:
    """Print how many pairs were judged and skipped."""
    outcomes = ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "nothing"
    lines = [f"{amount(sum(counts.values()), 'pair')} judged: {outcomes}"]
    if pairs.earlier:
        lines.append(f"  {amount(pairs.earlier, 'pair')} skipped, already judged")
    if pairs.first is not None:
        first, missing = pairs.first
        lacking = f"{amount(pairs.lacking, 'pair')} not judged, without {', '.join(missing)}"
        lines.append(f"  {lacking}; the first is {path}:{first.line}")
    sys.stderr.write("\n".join(lines) + "\n")
