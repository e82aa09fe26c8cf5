"""Reader of pair lists from a file or a text box."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from judgments.core.errors import NotValid
from judgments.core.report import Report

Pair = tuple[str, str]


@dataclass(frozen=True)
class PairList:
    """The distinct pairs in the order of the file, and what the reader found odd."""

    pairs: tuple[Pair, ...]
    report: Report

    @property
    def text(self) -> str:
        """The pairs as the CSV that reads back to the same."""
        from judgments.formats.pairs_csv import write
        from judgments.formats.rows import PairRow

        stream = io.BytesIO()
        write((PairRow(*pair) for pair in self.pairs), stream)
        return stream.getvalue().decode()


def read_pairs(content: bytes, path: str = "pairs") -> PairList:
    """Read pairs as ``pairs-csv``; an odd line is an error here, not a pair fewer.

    Parameters
    ----------
    content : bytes
        CSV with the columns ``query_id`` and ``doc_id``; others are passed over.
    path : str
        What messages call it.

    Raises
    ------
    NotValid
        No pair, a missing column, or a line that cannot be read; the text names the line.

    Examples
    --------
    >>> read_pairs(b"query_id,doc_id\\nq1,d1\\nq1,d2\\nq1,d1\\n").pairs
    (('q1', 'd1'), ('q1', 'd2'))
    """
    from judgments.formats import FORMATS

    if not content.strip():
        raise NotValid("There is no pair yet. Paste query_id,doc_id lines under that header, or choose a file.")
    read = FORMATS["pairs-csv"].read(content, path=path)
    read.report.raise_if_errors()
    pairs: Sequence[Pair] = [(row.query_id, row.doc_id) for row in read.rows]
    if not pairs:
        raise NotValid(f"{path} has a header and no pair. One line each: query_id,doc_id")
    return PairList(tuple(pairs), read.report)
