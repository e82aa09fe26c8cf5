"""Qrels and runs as JSON, JSONL, CSV and Parquet, and as the TSV files of BEIR and MS MARCO.

JSON is one object, ``{query: {document: number}}``, as pytrec_eval and ranx store it; a list of objects, one per pair,
can also be read. Parquet is written in the layout of ranx. BEIR's qrels need their header, because BEIR's loader always
skips the first line; MS MARCO's runs have neither header nor scores.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, BinaryIO

from assay.core.csv_cells import csv_cell
from assay.core.errors import NotValid
from assay.core.read_report import Tally
from assay.formats.column_names import BEIR_HEADER, LABEL_COLUMNS, RESULT_COLUMNS, SILENT, ColumnMap
from assay.formats.delimited import Columns
from assay.formats.delimited_pairs import checked_ids, checked_numbers, headless_columns, table_columns
from assay.formats.format import Format
from assay.formats.grade_cells import Grades, Pick
from assay.formats.json_lines import dump
from assay.formats.json_pairs import line_columns, line_entries, list_entries, nested_columns, nested_entries
from assay.formats.pair_layouts import Entry, labels, note_ranks_for_scores, results
from assay.formats.parquet import parquet_columns, parquet_entries
from assay.formats.reader import NeedsCare, reader
from assay.formats.row_types import LabelRow, RunRow
from assay.formats.text_lines import Content
from assay.formats.writer import (
    Ordered,
    WholeGrades,
    Written,
    finite_score,
    graded_order,
    ranked_order,
    refuse_ids,
    tags_left_out,
    whole_grade,
    write_lines,
)

if TYPE_CHECKING:
    from assay.formats.pair_columns import PairColumns

Known = Mapping[str, tuple[str, ...]]
Entries = Callable[[Content, Tally, Known, str], Iterator[Entry]]
BEIR, MSMARCO = "beir-qrels", "msmarco-run"
# The fields that are written, the number of a pair last, and the columns that are read.
FIELDS = {"qrels": ("query_id", "doc_id", "grade"), "run": ("query_id", "doc_id", "rank", "score")}
# The names of BEIR's and MTEB's rows.
BEIR_KEYS = {"query_id": "query-id", "doc_id": "corpus-id", "grade": "score"}
TABLES = {
    "qrels": Columns(LABEL_COLUMNS, FIELDS["qrels"], numeric=frozenset({"grade"}), silent=SILENT),
    "run": Columns(RESULT_COLUMNS, ("query_id", "doc_id"), numeric=frozenset({"score", "rank"}), silent=SILENT),
}


def _labels(entries: Entries) -> Callable[..., Iterator[LabelRow]]:
    def parse(
        content: Content, tally: Tally, *, grades: Grades = None, conflicts: Pick | None = None
    ) -> Iterator[LabelRow]:
        return labels(entries(content, tally, LABEL_COLUMNS, "grade"), tally, grades, conflicts)

    return parse


def _results(entries: Entries) -> Callable[..., Iterator[RunRow]]:
    def parse(content: Content, tally: Tally) -> Iterator[RunRow]:
        return results(entries(content, tally, RESULT_COLUMNS, "score"), tally)

    return parse


def _json_entries(content: Content, tally: Tally, known: Known, value: str) -> Iterator[Entry]:
    if content.head.lstrip().startswith(b"["):
        return list_entries(content, tally, known, value)
    return nested_entries(content, tally)


def _parquet_labels(
    content: Content, tally: Tally, *, grades: Grades = None, columns: ColumnMap = None, conflicts: Pick | None = None
) -> Iterator[LabelRow]:
    return labels(parquet_entries(content, tally, LABEL_COLUMNS, "grade", columns), tally, grades, conflicts)


def _parquet_results(content: Content, tally: Tally, *, columns: ColumnMap = None) -> Iterator[RunRow]:
    return results(parquet_entries(content, tally, RESULT_COLUMNS, "score", columns), tally)


def _csv_labels(
    content: Content,
    tally: Tally,
    *,
    grades: Grades = None,
    columns: ColumnMap = None,
    delimiter: str | None = None,
    conflicts: Pick | None = None,
) -> Sequence[LabelRow]:
    from assay.formats.column_reader import rows_in_columns
    from assay.formats.pair_layouts import CsvQrels

    layout = CsvQrels(content, TABLES["qrels"], mapping=columns, delimiter=delimiter)
    return rows_in_columns(content, tally, layout.of(grades, conflicts))


def _csv_results(
    content: Content, tally: Tally, *, columns: ColumnMap = None, delimiter: str | None = None
) -> Sequence[RunRow]:
    from assay.formats.column_reader import rows_in_columns
    from assay.formats.pair_layouts import CsvRun

    return rows_in_columns(content, tally, CsvRun(content, TABLES["run"], mapping=columns, delimiter=delimiter))


def _ordered(rows: Iterable[Any], kind: str, format: str) -> Ordered[Any]:
    """Return the rows in the order of writing: labels by their ids, results best first with ranks from 1."""
    ordered: Ordered[Any] = graded_order(rows) if kind == "qrels" else ranked_order(rows)
    refuse_ids(format, ordered.ids(), spaces=True)
    return ordered


def _written(ordered: Ordered[Any], kind: str, format: str) -> Written:
    return Written(len(ordered), () if kind == "qrels" else tags_left_out(format, ordered))


def _number(kind: str, format: str) -> Callable[[float, str, str], float]:
    """Return a function for the number of a pair as JSON contains it."""
    if kind == "qrels":
        return lambda grade, query_id, doc_id: int(whole_grade(grade, query_id, doc_id))
    return partial(finite_score, format)


def _write_json(rows: Iterable[Any], stream: BinaryIO, *, kind: str, format: str) -> Written:
    """Write one query per line."""
    ordered, number = _ordered(rows, kind, format), _number(kind, format)
    lines = []
    for query_id, group in groupby(ordered.values("query_id", "doc_id", FIELDS[kind][-1]), key=itemgetter(0)):
        pairs = ", ".join(
            f"{json.dumps(doc_id, ensure_ascii=False)}: {number(value, query_id, doc_id)}" for _, doc_id, value in group
        )
        lines.append(f"  {json.dumps(query_id, ensure_ascii=False)}: {{{pairs}}}")
    stream.write(("{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n").encode())
    return _written(ordered, kind, format)


def _write_jsonl(rows: Iterable[Any], stream: BinaryIO, *, kind: str, format: str, beir: bool = False) -> Written:
    """Write one pair per line; ``beir`` writes the keys of MTEB's rows."""
    ordered, number, names = _ordered(rows, kind, format), _number(kind, format), FIELDS[kind]
    keys = [BEIR_KEYS.get(name, name) for name in names] if beir else names
    for values in ordered.values(*names):
        value = number(values[-1], values[0], values[1])
        stream.write(dump(dict(zip(keys, (*values[:-1], value), strict=True))))
    return _written(ordered, kind, format)


def _write_csv(rows: Iterable[Any], stream: BinaryIO, *, kind: str, format: str) -> Written:
    """Write one pair per record."""
    ordered = _ordered(rows, kind, format)
    stream.write(f"{','.join(FIELDS[kind])}\n".encode())
    if kind == "qrels":
        for query_id, doc_id, grade in ordered.values(*FIELDS[kind]):
            digits = whole_grade(grade, query_id, doc_id)
            stream.write(f"{csv_cell(query_id)},{csv_cell(doc_id)},{digits}\n".encode())
    else:
        for query_id, doc_id, rank, score in ordered.values(*FIELDS[kind]):
            stream.write(f"{csv_cell(query_id)},{csv_cell(doc_id)},{rank},{float(score)!r}\n".encode())
    return _written(ordered, kind, format)


def _write_parquet(rows: Iterable[Any], stream: BinaryIO, *, kind: str, format: str, beir: bool = False) -> Written:
    """Write one pair per row, under ranx's names; ``beir`` writes the names of MTEB's rows."""
    import polars as pl

    ordered = _ordered(rows, kind, format)
    values = list(ordered.values("query_id", "doc_id", FIELDS[kind][-1]))
    if kind == "qrels":
        numbers: list[float] = [int(whole_grade(grade, query_id, doc_id)) for query_id, doc_id, grade in values]
    else:
        numbers = [float(score) for _, _, score in values]
    columns = {
        "query-id" if beir else "q_id": pl.Series([query_id for query_id, _, _ in values], dtype=pl.String),
        "corpus-id" if beir else "doc_id": pl.Series([doc_id for _, doc_id, _ in values], dtype=pl.String),
        "score": pl.Series(numbers, dtype=pl.Int64 if kind == "qrels" else pl.Float64),
    }
    buffer = BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    stream.write(buffer.getvalue())
    return _written(ordered, kind, format)


# Title, extensions, writer and fast reader of each container.
_CONTAINERS: dict[str, tuple[str, tuple[str, ...], Callable[..., Written], Callable[..., Iterator[PairColumns]]]] = {
    "json": ("JSON", (".json",), _write_json, nested_columns),
    "jsonl": ("JSONL", (".jsonl", ".ndjson"), _write_jsonl, line_columns),
    "csv": ("CSV", (".csv", ".tsv"), _write_csv, table_columns),
    "parquet": ("Parquet", (".parquet",), _write_parquet, parquet_columns),
}


def _format(kind: str, container: str, parse: Callable[..., Any], line: str, example: str, description: str) -> Format:
    name, binary = f"{kind}-{container}", container == "parquet"
    title, extensions, write, quick = _CONTAINERS[container]
    empty = {"qrels": "judgments", "run": "results"}[kind] if container != "json" else ""
    known: Any = TABLES[kind] if container == "csv" else TABLES[kind].known
    return Format(
        name=name,
        title=f"{kind.capitalize()}, {title}",
        tool={"json": "pytrec_eval and ranx", "parquet": "ranx"}.get(container, ""),
        kind=kind,
        extensions=extensions,
        description=description,
        read=reader(name, line, parse, empty=empty, encoded=not binary),
        write=partial(write, kind=kind, format=name),
        example=example,
        binary=binary,
        quick=quick if container == "json" else partial(quick, known=known, value=FIELDS[kind][-1]),
    )


def _beir_labels(
    content: Content, tally: Tally, *, grades: Grades = None, conflicts: Pick | None = None
) -> Sequence[LabelRow]:
    from assay.formats.column_reader import rows_in_columns
    from assay.formats.pair_layouts import BeirQrels

    return rows_in_columns(content, tally, BeirQrels().of(grades, conflicts))


def _write_beir(rows: Iterable[LabelRow], stream: BinaryIO) -> Written:
    """Write labels in the order of their ids, the header first."""
    ordered = graded_order(rows)
    refuse_ids(BEIR, ordered.ids(), spaces=True)
    if quoted := sorted({text for text in ordered.ids() if text[:1] == '"'}):
        raise NotValid(f"{BEIR} cannot contain ids that begin with a quotation mark: {', '.join(quoted[:20])}")
    stream.write(f"{BEIR_HEADER}\n".encode())
    digits = WholeGrades().of
    plain = ordered.values("query_id", "doc_id", "grade")
    write_lines(
        stream, (f"{query}\t{document}\t{digits(grade, query, document)}\n" for query, document, grade in plain)
    )
    return Written(len(ordered))


def _msmarco_results(content: Content, tally: Tally) -> Sequence[RunRow]:
    from assay.formats.column_reader import rows_in_columns
    from assay.formats.pair_layouts import MsMarcoRun

    return rows_in_columns(content, tally, MsMarcoRun())


def _msmarco_columns(content: Content, tally: Tally) -> Iterator[PairColumns]:
    """Yield the columns of a well-formed file, a piece at a time."""
    from assay.formats.pair_columns import PairColumns

    for before, block in headless_columns(content, tally):
        ranks = checked_numbers(block, 2)
        if (ranks < 0).any() or (ranks % 1).any():
            raise NeedsCare
        lines = block.lines_from(before)
        note_ranks_for_scores(tally, int(lines[0]), len(lines))
        yield PairColumns(checked_ids(block, 0), checked_ids(block, 1), 0.0 - ranks, ranks, lines)


def _write_msmarco(rows: Iterable[RunRow], stream: BinaryIO) -> Written:
    """Write a run, best document first, ranks from 1; the scores are lost."""
    ordered = ranked_order(rows)
    refuse_ids(MSMARCO, ordered.ids(), spaces=False)
    for query_id, doc_id, rank in ordered.values("query_id", "doc_id", "rank"):
        stream.write(f"{query_id}\t{doc_id}\t{rank}\n".encode())
    note = f"{MSMARCO} cannot store scores; only the ranks are written"
    return Written(len(ordered), (note,) if len(ordered) else ())


QRELS_JSON = _format(
    "qrels",
    "json",
    _labels(_json_entries),
    '{"q001": {"doc-abc": 3}}',
    '{\n  "q001": {"doc-abc": 3, "doc-mno": 0},\n  "q002": {"doc-xyz": 1}\n}\n',
    "Each query with the grades of its documents, as pytrec_eval and ranx read them.",
)
RUN_JSON = _format(
    "run",
    "json",
    _results(_json_entries),
    '{"q001": {"doc-abc": 12.5}}',
    '{\n  "q001": {"doc-abc": 12.5, "doc-xyz": 11.25},\n  "q002": {"doc-mno": 7.0}\n}\n',
    "Each query with the scores of its documents, as pytrec_eval and ranx read them.",
)
QRELS_JSONL = _format(
    "qrels",
    "jsonl",
    _labels(line_entries),
    '{"query_id": "q001", "doc_id": "doc-abc", "grade": 3}',
    '{"query_id": "q001", "doc_id": "doc-abc", "grade": 3}\n{"query_id": "q001", "doc_id": "doc-mno", "grade": 0}\n',
    "One label per line as a JSON object.",
)
RUN_JSONL = _format(
    "run",
    "jsonl",
    _results(line_entries),
    '{"query_id": "q001", "doc_id": "doc-abc", "rank": 1, "score": 12.5}',
    '{"query_id": "q001", "doc_id": "doc-abc", "rank": 1, "score": 12.5}\n'
    '{"query_id": "q001", "doc_id": "doc-xyz", "rank": 2, "score": 11.25}\n',
    "One result per line as a JSON object, with its score, its rank, or both.",
)
QRELS_CSV = _format(
    "qrels",
    "csv",
    _csv_labels,
    "query_id,doc_id,grade",
    "query_id,doc_id,grade\nq001,doc-abc,3\nq001,doc-mno,0\n",
    "One label per record under a header: query_id, doc_id and grade, or their alternative names.",
)
RUN_CSV = _format(
    "run",
    "csv",
    _csv_results,
    "query_id,doc_id,score",
    "query_id,doc_id,rank,score\nq001,doc-abc,1,12.5\nq001,doc-xyz,2,11.25\n",
    "One result per record under a header: query_id, doc_id, and score, rank or both.",
)
QRELS_PARQUET = _format(
    "qrels",
    "parquet",
    _parquet_labels,
    "the columns q_id, doc_id and score",
    "q_id,doc_id,score\nq001,doc-abc,3\nq001,doc-mno,0\n",
    "One label per row, with named columns, shown here as CSV; written in the layout of ranx.",
)
RUN_PARQUET = _format(
    "run",
    "parquet",
    _parquet_results,
    "the columns q_id, doc_id and score",
    "q_id,doc_id,score\nq001,doc-abc,12.5\nq001,doc-xyz,11.25\n",
    "One result per row, with named columns, shown here as CSV; written in the layout of ranx.",
)
BEIR_QRELS = Format(
    name=BEIR,
    title="BEIR qrels, TSV",
    tool="BEIR",
    kind="qrels",
    extensions=(".tsv",),
    description="The file qrels/test.tsv of a BEIR directory.",
    read=reader(BEIR, "q001<TAB>doc-abc<TAB>3", _beir_labels),
    write=_write_beir,
    example=f"{BEIR_HEADER}\nq001\tdoc-abc\t3\nq001\tdoc-mno\t0\n",
    options={"grades": "grade scale; by default any whole number is accepted"},
)
MSMARCO_RUN = Format(
    name=MSMARCO,
    title="MS MARCO run, TSV",
    tool="MS MARCO",
    kind="run",
    extensions=(".tsv", ".txt"),
    description="One result per line with a rank but no score, without a header; the score is minus the rank.",
    read=reader(MSMARCO, "q001\tdoc-abc\t1", _msmarco_results, empty="results"),
    write=_write_msmarco,
    example="q001\tdoc-abc\t1\nq001\tdoc-xyz\t2\nq001\tdoc-mno\t3\n",
    quick=_msmarco_columns,
)
