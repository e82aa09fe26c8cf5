"""Click logs as CSV and JSONL: one shown result per row, or counts per query, document and rank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from assay.core.csv_cells import escape
from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.core.text_rules import amount
from assay.formats.column_names import DOC_ID, QUERY_ID, ColumnMap
from assay.formats.delimited import Columns, check_mapping, names_of, read_table
from assay.formats.format import Format
from assay.formats.grade_cells import checked_id
from assay.formats.grade_cells import count as whole_number
from assay.formats.json_lines import objects, write_objects
from assay.formats.queries import query_fault, query_id_fault
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import ClickRow
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written, optional_cell, write_csv

COLUMNS = Columns(
    {
        "query_id": QUERY_ID,
        "query": ("user_query", "query_text", "search_term"),
        "doc_id": DOC_ID,
        "position": ("rank", "ordinal"),
        "clicked": ("click",),
        "impressions": ("shown", "views"),
        "clicks": (),
        "client_id": ("session_id", "user_id", "user"),
        "search_id": (),
    },
    ("doc_id",),
    numeric=frozenset({"position", "clicked", "impressions", "clicks"}),
)
NUMBERS = ("position", "clicked", "impressions", "clicks")
CLICKED = {"1": 1, "true": 1, "yes": 1, "0": 0, "false": 0, "no": 0, "": 0}
# Users do not scroll further down, so a higher number is not a position.
DEEPEST = 10_000
NEEDED = (
    "expected the columns query or query_id, doc_id, position, and clicked (0 or 1) or impressions and clicks; "
    "map a column (columns: clicked=NAME)"
)


class ClickBooks:
    """Validation of the rows of one flat click log; every row is counted in its bin."""

    def __init__(self, tally: Tally, *, table: bool) -> None:
        self._tally = tally
        self._looked = not table

    def take(self, of: Mapping[str, str], *, line: int, raw: str, repaired: bool = False) -> Iterator[ClickRow]:
        """Yield the row if it is valid."""
        if not self._looked:
            self._look_at_columns(of, line)
        if "query_id" not in of and not of.get("query", "").strip():
            without_query(self._tally, line)
            return
        with self._tally.rejecting(line, raw=raw):
            row = self._row(of, line)
            note_unusual(self._tally, line, row.doc_id)
            self._tally.accept(repaired)
            yield row

    def _look_at_columns(self, of: Mapping[str, str], line: int) -> None:
        self._looked = True
        for wanted in (("query", "query_id"), ("clicked", "clicks")):
            if not any(column in of for column in wanted):
                self._tally.refuse(f"has no column {' or '.join(wanted)}", line=line, expected=NEEDED, code="F04")
        if "clicked" not in of and "impressions" not in of:
            what = "has clicks but no impressions"
            self._tally.refuse(what, line=line, expected=NEEDED, code="F04")

    def _row(self, of: Mapping[str, str], line: int) -> ClickRow:
        impressions, clicks = _counts(of)
        query, query_id = of.get("query", ""), of.get("query_id", "")
        by_id = "query_id" in of
        fault = query_id_fault(query_id) if by_id else None
        if fault is None and (query.strip() or not by_id):
            fault = query_fault(query)
        if fault:
            raise RowFault(*fault)
        checked_id(of["doc_id"])
        return ClickRow(
            query,
            of["doc_id"],
            position_of(of.get("position", "")),
            impressions,
            clicks,
            query_id=query_id,
            client_id=of.get("client_id", "").strip(),
            search_id=of.get("search_id", "").strip(),
            line=line,
        )


def without_query(tally: Tally, line: int) -> None:
    """Skip a line whose search has no text."""
    tally.put("rejected")
    tally.once("W50", line, "a search without a query", done="left out")


def position_of(text: str) -> int | None:
    """Return the position as written, counted from 0 or 1; None if there is none."""
    position = whole_number(text, "position")
    if position is not None and position > DEEPEST:
        raise RowFault("E12", f"the position {position} is beyond {DEEPEST:,}", "expected a rank such as 1")
    return position


def _counts(of: Mapping[str, str]) -> tuple[int, int]:
    """Return the numbers of impressions and clicks of the result."""
    if "clicked" in of and not ("clicks" in of and "impressions" in of):
        clicked = CLICKED.get(of["clicked"].strip().lower())
        if clicked is None:
            raise RowFault("E12", f"clicked is {of['clicked']!r}", "expected 0 or 1")
        return 1, clicked
    shown = whole_number(of.get("impressions", ""), "impressions", least=1)
    clicks = whole_number(of.get("clicks", ""), "clicks")
    if shown is None or clicks is None:
        missing = "impressions" if shown is None else "clicks"
        raise RowFault("E12", f"no {missing}", NEEDED)
    if clicks > shown:
        fix = "count at most one click per impression"
        raise RowFault("E23", f"{amount(clicks, 'click')} on {amount(shown, 'impression')}", fix)
    return shown, clicks


def _stream_csv(
    content: Content, tally: Tally, *, columns: ColumnMap = None, delimiter: str | None = None
) -> Iterator[ClickRow]:
    """Yield the rows of a log as they are read; options as for `read`."""
    books = ClickBooks(tally, table=True)
    for cells in read_table(content, tally, COLUMNS, mapping=columns, delimiter=delimiter):
        yield from books.take(cells.of, line=cells.line, raw=cells.raw, repaired=cells.repaired)


def _stream_jsonl(content: Content, tally: Tally, *, columns: ColumnMap = None) -> Iterator[ClickRow]:
    """Yield the rows of a log as they are read; options as for `read`."""
    check_mapping(columns or {}, COLUMNS)
    books = ClickBooks(tally, table=False)
    for element in objects(content, tally):
        values = {name: _value(element.of, names_of(name, COLUMNS, columns)) for name in COLUMNS.known}
        of = {name: _text(value) for name, value in values.items() if value is not None}
        wrong = next((name for name, value in values.items() if isinstance(value, dict | list)), None)
        if wrong is not None or "doc_id" not in of:
            what = f"{wrong} is {value_kind(values[wrong])}" if wrong else "no doc_id"
            tally.reject("E23", element.line, what, fix=tally.expected, raw=element.raw)
        else:
            yield from books.take(of, line=element.line, raw=element.raw)


def _value(of: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((of[name] for name in names if of.get(name) is not None), None)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return str(value)


def _write_csv(rows: Iterable[ClickRow], stream: BinaryIO) -> Written:
    """Write a log in the given order, without empty columns."""
    table = [_cells(row) for row in rows]
    names = _columns(table)
    return write_csv(stream, names, table, lambda of: [escape(of[name]) for name in names], "a row")


def _write_jsonl(rows: Iterable[ClickRow], stream: BinaryIO) -> Written:
    """Write a log in the given order, without empty keys."""
    table = [_cells(row) for row in rows]
    names = _columns(table)
    return write_objects(
        ({name: int(of[name]) if name in NUMBERS and of[name] else of[name] for name in names} for of in table), stream
    )


def _cells(row: ClickRow) -> dict[str, str]:
    """Return a row's cells by column."""
    if row.results:
        raise NotValid("a search with its result list can only be written as UBI")
    return {
        "query_id": row.query_id,
        "query": row.query,
        "doc_id": row.doc_id,
        "position": optional_cell(row.position),
        "clicked": str(row.clicks) if row.impressions == 1 and row.clicks <= 1 else "",
        "impressions": str(row.impressions),
        "clicks": str(row.clicks),
        "client_id": row.client_id,
        "search_id": row.search_id,
    }


def _columns(table: list[dict[str, str]]) -> list[str]:
    """Return the needed columns: ``clicked`` if each row is one result, otherwise both counts."""
    single = all(of["clicked"] for of in table)
    left_out = {"impressions", "clicks"} if single else {"clicked"}
    always = {"query", "doc_id", "position", "clicked", "impressions", "clicks"}
    if table and not any(of["query"] for of in table):
        always.discard("query")
    return [
        name for name in COLUMNS.known if name not in left_out and (name in always or any(of[name] for of in table))
    ]


JSONL_LINE = '{"query": "rain jacket", "doc_id": "doc-abc", "position": 1, "impressions": 310, "clicks": 124}'

CSV = Format(
    name="click-log-csv",
    title="Click log, CSV",
    kind="click-log",
    extensions=(".csv", ".tsv"),
    description=(
        "One shown result per record (query, doc_id, position, clicked), or impressions and clicks per query, "
        "document and rank."
    ),
    read=reader("click-log-csv", "query,doc_id,position,clicked", _stream_csv, empty="results"),
    write=_write_csv,
    example=(
        "query,doc_id,position,clicked,client_id\n"
        "rain jacket,doc-abc,1,1,c17\n"
        "rain jacket,doc-mno,2,0,c17\n"
        "running shoes,doc-xyz,1,0,c04\n"
    ),
    stream=_stream_csv,
)
JSONL = Format(
    name="click-log-jsonl",
    title="Click log, JSONL",
    kind="click-log",
    description="One shown result per line, or impressions and clicks per query, document and rank.",
    read=reader("click-log-jsonl", JSONL_LINE, _stream_jsonl, empty="results"),
    write=_write_jsonl,
    example=(
        f"{JSONL_LINE}\n"
        '{"query": "rain jacket", "doc_id": "doc-mno", "position": 2, "impressions": 310, "clicks": 31}\n'
    ),
    stream=_stream_jsonl,
    options={"columns": "maps keys of the file, such as doc_id=sku"},
)
