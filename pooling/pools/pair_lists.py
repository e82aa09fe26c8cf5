"""Reader of pair lists from a file or a text box."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from assay.core.errors import NotValid
from assay.core.read_report import Report

Pair = tuple[str, str]


@dataclass(frozen=True)
class PairList:
    """The distinct pairs in file order, and the issues of the reader."""

    pairs: tuple[Pair, ...]
    report: Report

    @property
    def text(self) -> str:
        """Return the pairs as CSV that can be read again without changes."""
        from assay.formats.pairs_csv import write
        from assay.formats.row_types import PairRow

        stream = io.BytesIO()
        write((PairRow(*pair) for pair in self.pairs), stream)
        return stream.getvalue().decode()


def read_pairs(content: bytes, path: str = "pairs") -> PairList:
    """Read pairs as ``pairs-csv``; every odd line is an error, so that no pair is lost.

    Examples
    --------
    >>> read_pairs(b"query_id,doc_id\\nq1,d1\\nq1,d2\\nq1,d1\\n").pairs
    (('q1', 'd1'), ('q1', 'd2'))
    """
    from assay.formats import FORMATS

    if not content.strip():
        raise NotValid(
            "The list has no pairs. Paste the header query_id,doc_id and one pair per line, or choose a file."
        )
    read = FORMATS["pairs-csv"].read(content, path=path)
    read.report.raise_if_errors()
    pairs: Sequence[Pair] = [(row.query_id, row.doc_id) for row in read.rows]
    if not pairs:
        raise NotValid(f"{path} has a header but no pairs. Write one pair per line: query_id,doc_id")
    return PairList(tuple(pairs), read.report)
