"""zbench's annotated data sets: queries and documents with a score for each document.

Scores are natural logarithms with mean 0 in each query: they rank its documents and are not grades.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import BinaryIO

from assay.formats import zbench_dataset
from assay.formats.format import Format
from assay.formats.json_rows import reader
from assay.formats.row_types import PairRow
from assay.formats.writer import Written
from assay.formats.zbench_dataset import parse

NAME = "zbench-annotated"
EXAMPLE = (
    '{"query": {"id": "query_001", "query": "What are the benefits of renewable energy?"}, "documents": '
    '[{"id": "doc_001", "content": "Solar power is a clean, renewable energy source.", '
    '"metadata": {"source": "energy_report.pdf", "page": 15}, "score": 2.45}, '
    '{"id": "doc_002", "content": "Wind energy has become cost-effective.", "metadata": {}, "score": 1.87}]}\n'
)
_LINE = '{"query": {"id": "q001", "query": "..."}, "documents": [{"id": "doc-abc", "content": "...", "score": 1.25}]}'


def write(rows: Iterable[PairRow], stream: BinaryIO, *, queries: Mapping[str, str] | None = None) -> Written:
    """Write an annotated data set: queries and their documents in the order given."""
    return zbench_dataset.write(rows, stream, queries=queries, scored=True)


# Each document has a score.
read = reader(NAME, _LINE, partial(parse, scored=True))

FORMAT = Format(
    name=NAME,
    title="zbench annotated data set, JSONL",
    kind="document-scores",
    extensions=(".jsonl", ".ndjson"),
    description="One query per line with its documents, each with a score.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"encoding": "latin-1 for old files"},
)
