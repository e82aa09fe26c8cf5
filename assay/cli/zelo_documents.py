"""Which documents do queries have, and what do they say, in any file that names them?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.files import tell_warnings
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.formats.rows import PairRow

# What names documents of queries, whatever else it says about them.
KINDS = ("pairs", "qrels", "ratings", "run")


def documents(path: str) -> dict[str, list[str]]:
    """The documents of each query, in the order of the file.

    Raises
    ------
    NotValid
        The file names none.
    """
    if is_zbench(path):
        from judgments.preferences import zbench

        return {one.query_id: list(one.doc_ids) for one in zbench.read(path)}
    from judgments.formats import FORMATS

    source: Path | str | bytes = Path(path)
    if path == "-":
        member = FORMATS["pairs-jsonl"]
    else:
        name = _format(path)
        if name is None or FORMATS[name].kind not in KINDS:
            raise NotValid(f"{path}: names no documents of queries; give pairs.jsonl, a pool, qrels or a run")
        member = FORMATS[name]
    found = member.read(source, path=path)
    found.report.raise_if_errors()
    tell_warnings([found.report])
    listed: dict[str, dict[str, None]] = {}
    for row in found.rows:
        listed.setdefault(row.query_id, {})[row.doc_id] = None
    return {query_id: list(one) for query_id, one in listed.items()}


def texts(path: str) -> list[PairRow]:
    """The pairs with what they say: pairs.jsonl, or a data set of zbench.

    Raises
    ------
    NotValid
        The file has no texts.
    """
    if not is_zbench(path):
        from assay.cli.judge_pairs import read_pairs

        return read_pairs(path)
    from judgments.formats.rows import PairRow
    from judgments.preferences import zbench

    return [
        PairRow(one.query_id, doc_id, one.query, text=text)
        for one in zbench.read(path)
        for doc_id, text in zip(one.doc_ids, one.texts, strict=True)
    ]


def is_battles(path: str) -> bool:
    """Whether a file holds battles, fought or not."""
    return path != "-" and not is_zbench(path) and _format(path) == "battles-jsonl"


def is_zbench(path: str) -> bool:
    """Whether a file is a data set of zbench."""
    if path == "-":
        return False
    from judgments.preferences import zbench

    with Path(path).open("rb") as stream:
        return zbench.looks_like(stream.read(65_536))


def _format(path: str) -> str | None:
    from judgments.formats import sniff
    from judgments.formats.decoding import Content, kept

    with Content(kept(Path(path)), path) as content:
        return sniff(content.head)
