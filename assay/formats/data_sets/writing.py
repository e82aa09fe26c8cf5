"""Writer of a whole data set as a folder, in the layout of BEIR or MTEB."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.core.counted_nouns import amount
from assay.core.errors import NotValid
from assay.formats.row_types import DocumentRow, LabelRow, QueryRow

MAX_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Layout:
    """The format of the qrels and the ending of their files."""

    qrels: str
    ending: str


LAYOUTS = {"beir": Layout("beir-qrels", ".tsv"), "mteb": Layout("qrels-jsonl", ".jsonl")}


def write_folder(
    layout: str,
    out: Path,
    documents: Sequence[DocumentRow],
    queries: Sequence[QueryRow],
    splits: Mapping[str, Sequence[LabelRow]],
) -> list[str]:
    """Write corpus.jsonl, queries.jsonl and qrels/SPLIT into a new folder, all or nothing; return notes.

    Each query with labels must be among the queries. Documents without content are written with empty texts, because
    BEIR's loader needs all of them.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise NotValid(f"{out} is not an empty folder; name a new one with --out")
    odd = [split for split in splits if not split or Path(split).name != split or split.startswith(".")]
    if odd:
        raise NotValid(f"the split {odd[0]!r} cannot be the name of a file; use a name such as test")
    labels = [row for rows in splits.values() for row in rows if row.grade is not None]
    texts = {row.query_id for row in queries}
    if unknown := sorted({row.query_id for row in labels} - texts):
        raise NotValid(
            f"{amount(len(unknown), 'query', 'queries')} with labels have no text: {_shown(unknown)}; add them"
        )
    missing = sorted({row.doc_id for row in labels} - {row.doc_id for row in documents})
    empty = [DocumentRow(doc_id) for doc_id in missing]
    notes = []
    if missing:
        count = amount(len(missing), "judged document")
        notes.append(f"{count} without content, written with an empty text: {_shown(missing)}")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as folder:
        notes += _write(LAYOUTS[layout], Path(folder), [*documents, *empty], queries, splits)
        out.mkdir(exist_ok=True)
        for one in Path(folder).iterdir():
            shutil.move(one, out / one.name)
    return notes


def _write(
    layout: Layout,
    folder: Path,
    documents: Sequence[DocumentRow],
    queries: Sequence[QueryRow],
    splits: Mapping[str, Sequence[LabelRow]],
) -> list[str]:
    from assay.formats import FORMATS

    (folder / "qrels").mkdir()
    options = {} if layout.qrels == "beir-qrels" else {"beir": True}
    files = [
        ("corpus.jsonl", "documents-jsonl", documents, {"beir": True}),
        ("queries.jsonl", "queries-jsonl", queries, {"beir": True}),
        *((f"qrels/{split}{layout.ending}", layout.qrels, rows, options) for split, rows in splits.items()),
    ]
    notes: list[str] = []
    for name, format, rows, given in files:
        write = FORMATS[format].write
        if write is None:
            raise AssertionError(f"{format} cannot be written")
        with (folder / name).open("wb") as stream:
            notes += write(rows, stream, **given).notes
    return notes


def _shown(ids: Sequence[str]) -> str:
    return ", ".join(ids[:MAX_SHOWN]) + (f" and {len(ids) - MAX_SHOWN:,} more" if ids[MAX_SHOWN:] else "")
