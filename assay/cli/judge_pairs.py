"""Pairs of a ``pairs.jsonl`` that a judge has yet to grade, and the labels made of its answers."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from assay.cli.files import STDIN, tell_warnings
from assay.cli.spilled import Spilled, pair_key
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.formats.labels_jsonl import MachineLabel
    from judgments.formats.rows import PairRow
    from judgments.judges import Context, Outcome
    from judgments.judges.contract import Need


# Characters of documents in one portion.
MOST_HELD = 30_000_000


class PairFile:
    """The pairs of a file, read anew each time that they are wanted, so that their number costs no memory.

    Parameters
    ----------
    path : str
        Of a pairs.jsonl; ``-`` is standard input, which is written to a file first.
    needs : sequence of str
        What the judge needs to know of a pair.

    Raises
    ------
    UnreadableInput
        With file and line: all of the file is looked at before anything is asked.
    """

    def __init__(self, path: str, needs: Sequence[Need]) -> None:
        self.path, self.needs = path, needs
        self._spool = _spooled(path)
        # Lines that say what an earlier one says.
        self._repeated: set[int] = set()
        # How many there are, and how many of them have what is needed.
        self.number = self.judgeable = 0
        self._check()

    def __iter__(self) -> Iterator[PairRow]:
        return (row for row in self._rows(self._opened()) if row.line not in self._repeated)

    def portions(self, size: int | None) -> Iterator[list[PairRow]]:
        """Yield so many pairs at a time, fewer where their texts are long; all of them at once for None."""
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
        """Refuse a file of which no pair can be judged.

        Raises
        ------
        NotValid
            With what is missing.
        """
        if self.number and not self.judgeable and not earlier:
            raise NotValid(f"{self.path}: no pair has what {judge} needs: {', '.join(self.needs)}; add it to the pairs")

    def _opened(self) -> tuple[Any, Any]:
        from judgments.formats import pairs_jsonl
        from judgments.formats.reading import open_as

        source = Path(self._spool.name) if self._spool is not None else Path(self.path)
        return open_as(source, self.path, pairs_jsonl.NAME, pairs_jsonl.EXAMPLE.strip())

    @staticmethod
    def _rows(opened: tuple[Any, Any]) -> Iterator[PairRow]:
        from judgments.formats import pairs_jsonl

        content, tally = opened
        with content:
            yield from pairs_jsonl.stream(content, tally)

    def _check(self) -> None:
        """Read the file once: every row must be one, and none may contradict another."""
        import hashlib

        from judgments.formats.reading import finish
        from judgments.judges import Context

        content, tally = opened = self._opened()
        known = Spilled()
        for row in self._rows(opened):
            key = pair_key(row.query_id, row.doc_id)
            said = hashlib.sha256(repr(replace(row, line=0)).encode("utf-8", "backslashreplace")).hexdigest()
            first = known.get(key)
            if first is None:
                known[key] = [row.line, said]
                self.number += 1
                lacks = Context(row.query, row.text, row.expected, row.narrative).lacks(self.needs)
                self.judgeable += not lacks
            elif first[1] == said:
                self._repeated.add(row.line)
                tally.move("accepted", "duplicate")
                tally.once("W33", row.line, f"says the same as line {first[0]}", done="kept once")
            else:
                tally.move("accepted", "conflict")
                what = f"the pair {row.query_id} {row.doc_id} again, with other values than on line {first[0]}"
                tally.note("E16", row.line, what, done="held back", fix="keep one of the two")
        report = finish(content, tally)
        report.raise_if_errors()
        tell_warnings([report])


def _spooled(path: str) -> Any:
    """Write what flows by into a file: it is read more than once."""
    if path != STDIN and not Path(path).is_fifo():
        return None
    spool = NamedTemporaryFile()  # noqa: SIM115 (it lives as long as the pairs)
    with Path(path).open("rb") if path != STDIN else sys.stdin.buffer as stream:
        shutil.copyfileobj(stream, spool)
    spool.flush()
    return spool


@dataclass
class Pairs:
    """What there is to do, of all pairs or of a portion.

    Parameters
    ----------
    ready : list of (PairRow, Context)
        With all that the judge needs.
    lacking : list of (PairRow, list of str)
        Without something, and what.
    earlier : int
        Answered already.
    """

    ready: list[tuple[PairRow, Context]]
    lacking: list[tuple[PairRow, list[str]]]
    earlier: int

    @classmethod
    def of(cls, rows: Iterable[PairRow], needs: Sequence[Need], earlier: Container[str]) -> Pairs:
        """Sort rows out; those in `earlier` (by `pair_key`) are left alone."""
        from judgments.judges import Context

        found = cls([], [], 0)
        for row in rows:
            if pair_key(row.query_id, row.doc_id) in earlier:
                found.earlier += 1
                continue
            context = Context(row.query, row.text, row.expected, row.narrative)
            if missing := context.lacks(needs):
                found.lacking.append((row, list(missing)))
            else:
                found.ready.append((row, context))
        return found


@dataclass
class Totals:
    """What became of all pairs, portion by portion."""

    ready: int = 0
    lacking: int = 0
    earlier: int = 0
    first: tuple[PairRow, list[str]] | None = None

    def add(self, portion: Pairs) -> None:
        """Count a portion in."""
        self.ready += len(portion.ready)
        self.lacking += len(portion.lacking)
        self.earlier += portion.earlier
        self.first = self.first or next(iter(portion.lacking), None)


def read_pairs(path: str) -> list[PairRow]:
    """Read pairs.jsonl and tell what is odd.

    Raises
    ------
    UnreadableInput
        With file and line.
    """
    from judgments.formats import pairs_jsonl

    found = pairs_jsonl.read(Path(path), path=path)
    found.report.raise_if_errors()
    tell_warnings([found.report])
    return list(found.rows)


def label(
    pair: PairRow, outcome: Outcome, judge: str, parameters: Mapping[str, Any], model: str = "", prompt_sha256: str = ""
) -> MachineLabel:
    """The line of an answer."""
    from judgments.formats.labels_jsonl import MachineLabel

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


def tell(path: str, pairs: Totals, counts: Mapping[str, int]) -> None:
    """Say what was judged, and what was not."""
    told = ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "nothing"
    lines = [f"judged {sum(counts.values())}: {told}"]
    if pairs.earlier:
        lines.append(f"  left alone, judged already: {pairs.earlier}")
    if pairs.first is not None:
        first, missing = pairs.first
        lines.append(f"  not judged: {pairs.lacking} without {', '.join(missing)}, the first at {path}:{first.line}")
    sys.stderr.write("\n".join(lines) + "\n")
