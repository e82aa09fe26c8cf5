"""Judgment lists for learning to rank, as SVMrank, RankLib and the LTR plugins read them.

A line is ``grade qid:1 1:0.5 2:1.3 # doc_id query text``, or as in LETOR ``... #docid = doc_id inc = 1 prob = 0.02``.
Features are passed through.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import BinaryIO

from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed, Pick, checked_id
from assay.formats.queries import checked_query, note_personal
from assay.formats.reader import filled_lines, note_unusual, reader
from assay.formats.row_types import LabelRow
from assay.formats.text_keys import whole_rating
from assay.formats.text_lines import Content
from assay.formats.writer import Written, export_order, refuse_ids, whole_grade

NAME = "ltr"
EXAMPLE = "# qid:1: star trek\n# qid:2: star wars\n3 qid:1 # 1370\n0 qid:1 # 193\n2 qid:2 1:0.51 2:1.30 # 11\n"
_LINE = "3 qid:1 1:0.51 # doc-abc star wars"
_QUERY = re.compile(r"#\s*qid:(\S+?):\s*(.*)")
_FEATURE = re.compile(r"[^\s:]+:\S+")
_LETOR = re.compile(r"\s*docid\s*=\s*(\S+)(.*)")
_QID = re.compile(r"[1-9][0-9]*")


@dataclass(frozen=True, slots=True)
class FeatureRow(LabelRow):
    """A label with the features of its pair, as they were written."""

    features: str = ""


def _parse(content: Content, tally: Tally, *, conflicts: Pick | None = None) -> Iterator[LabelRow]:
    texts: dict[str, str] = {}
    by_key: Keyed[LabelRow] = Keyed(tally, conflicts)
    for line, text in filled_lines(content.lines(), tally):
        with tally.rejecting(line, raw=text):
            if text.lstrip().startswith("#"):
                _note_query(text, texts, tally, line)
                continue
            row: LabelRow = _row(text, line, texts, tally)
            note_unusual(tally, line, row.doc_id)
            by_key.add((row.query_id, row.doc_id), row.grade, row, line, text)
    for row in by_key.rows():
        tally.grade(row.grade or 0)
        yield row


def _note_query(text: str, texts: dict[str, str], tally: Tally, line: int) -> None:
    """Read a comment that states the text of a query; other comments are skipped."""
    match = _QUERY.fullmatch(text.strip())
    if match is None:
        tally.put("comment")
        tally.once("W34", line, "a comment line", done="skipped")
        return
    query_id, query = match.groups()
    checked_query(query)
    if texts.setdefault(query_id, query) != query:
        raise RowFault("E18", f"the query {query_id!r} was {texts[query_id]!r} before, now {query!r}", "keep one text")
    note_personal(tally, line, query)
    tally.put("header")


def _row(text: str, line: int, texts: dict[str, str], tally: Tally) -> FeatureRow:
    data, _, comment = text.partition("#")
    words, named = data.split(), comment.split(None, 1)
    if letor := _LETOR.fullmatch(comment):
        named = [letor[1]]
        if letor[2].strip():
            tally.once("W41", line, f"the comment {letor[2].strip()!r} after the document", done="ignored")
    if len(words) < 2 or not words[1].startswith("qid:"):
        raise RowFault("E10", "the line does not begin with a grade and qid")
    if not named:
        raise RowFault("E11", "there is no document id after #", "training data without ids cannot be labels")
    odd = next((word for word in words[2:] if not _FEATURE.fullmatch(word)), None)
    if odd is not None:
        raise RowFault("E10", f"{odd!r} is not a feature such as 1:0.5")
    query_id, doc_id = checked_id(words[1][4:], "query id"), checked_id(named[0])
    if len(named) > 1:
        query = named[1].strip()
        if texts.setdefault(query_id, query) != query:
            raise RowFault(
                "E18", f"the query {query_id!r} was {texts[query_id]!r} before, now {query!r}", "keep one text"
            )
    return FeatureRow(
        *(query_id, doc_id, whole_rating(words[0])),
        query=texts.get(query_id, ""),
        line=line,
        # With a text, an import finds the query by it, because qids are numbers of this file.
        by_text=query_id in texts,
        features=" ".join(words[2:]),
    )


def _write(
    rows: Iterable[LabelRow], stream: BinaryIO, *, queries: Mapping[str, str] | None = None, features: bool = True
) -> Written:
    """Write labels by query and document. Other ids than positive whole numbers are numbered, and returned as idmap."""
    ordered = export_order(row for row in rows if row.grade is not None)
    refuse_ids(NAME, {row.doc_id for row in ordered})
    ids = list(dict.fromkeys(row.query_id for row in ordered))
    plain = all(_QID.fullmatch(query_id) for query_id in ids)
    qids = {query_id: query_id if plain else str(number) for number, query_id in enumerate(ids, 1)}
    ordered.sort(key=lambda row: (int(qids[row.query_id]), row.doc_id))
    given_texts = {row.query_id: (queries or {}).get(row.query_id) or row.query for row in ordered}
    texts = {query_id: " ".join(text.split()) for query_id, text in given_texts.items()}
    changed = [query_id for query_id, text in texts.items() if text != given_texts[query_id]]
    for query_id, text in texts.items():
        if text:
            stream.write(f"# qid:{qids[query_id]}: {text}\n".encode())
    for _, group in groupby(ordered, key=lambda row: row.query_id):
        for row in group:
            given = f" {row.features}" if features and isinstance(row, FeatureRow) and row.features else ""
            grade = whole_grade(row.grade, row.query_id, row.doc_id)
            stream.write(f"{grade} qid:{qids[row.query_id]}{given} # {row.doc_id}\n".encode())
    renamed = {query_id: qid for query_id, qid in qids.items() if query_id != qid}
    notes = [f"query {query_id!r}: white space was replaced with single spaces" for query_id in changed]
    if ordered and not any(isinstance(row, FeatureRow) and row.features for row in ordered):
        notes.append("there are no features, so that a ranker cannot be trained from this file alone")
    return Written(len(ordered), tuple(notes), renamed, "qidmap.tsv")


FORMAT = Format(
    name=NAME,
    title="Learning to rank, SVMrank and RankLib",
    tool="SVMrank and RankLib",
    kind="qrels",
    extensions=(".txt", ".ltr"),
    description="Grade, query number, features and document, as SVMrank, RankLib, Quepid and the LTR plugins use them.",
    read=reader(NAME, _LINE, _parse, empty="judgments"),
    write=_write,
    example=EXAMPLE,
)
