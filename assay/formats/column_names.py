"""Alternative column names for qrels and runs from other systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.core.read_report import Tally

# The columns of a file by the names that Assay gives them, such as doc_id=sku.
ColumnMap = Mapping[str, str] | None

QUERY_ID = ("qid", "q_id", "query-id", "queryid", "topic", "topic_id")
# A PyTerrier frame has docno, the document's own id, and docid, a number inside the index.
DOC_ID = ("docno", "docid", "doc-id", "document_id", "corpus-id", "corpus_id", "pid", "passage_id")
GRADE = ("rating", "label", "relevance", "rel", "score")
SCORE = ("similarity",)
RANK = ("position",)
TAG = ("run", "system", "run_id", "runid")

# Each column with its alternative names.
LABEL_COLUMNS = {"query_id": QUERY_ID, "doc_id": DOC_ID, "grade": GRADE}
RESULT_COLUMNS = {"query_id": QUERY_ID, "doc_id": DOC_ID, "score": SCORE, "rank": RANK, "tag": TAG}

# The first line of BEIR's qrels.
BEIR_HEADER = "query-id\tcorpus-id\tscore"

# Columns that are irrelevant here and are skipped silently.
SILENT = frozenset({"q0", "iter", "iteration", "query", "query_text"})


def note_rest(
    name: str, line: int | None, names: Mapping[str, str], known: Mapping[str, tuple[str, ...]], tally: Tally, what: str
) -> None:
    """Report why a column or key is not read: another represents the same field (W55), or it is unknown (W41)."""
    folded = name.casefold()
    rival = next((column for column, others in known.items() if folded in (column, *others) and column in names), None)
    if rival is None:
        tally.once("W41", line, f"unknown {what} {name!r}", done="ignored", column=name)
    else:
        both = f"the {what}s {names[rival]!r} and {name!r} both map to {rival}"
        tally.once("W55", line, both, done=f"{names[rival]!r} is read, {name!r} is ignored", column=name)
