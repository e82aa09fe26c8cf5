"""Queries as CSV with needs, tiers and traffic, as JSONL, and as TSV with ids and texts only."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

from assay.core.csv_cells import escape, unescape
from assay.core.read_report import RowFault, Tally
from assay.core.text_rules import amount, id_fault
from assay.formats.column_names import ColumnMap, note_rest
from assay.formats.delimited import Cells, Columns, read_table
from assay.formats.format import Format
from assay.formats.grade_cells import Fault, count, share
from assay.formats.json_lines import Element, objects, write_objects
from assay.formats.parquet import parquet_objects, write_parquet_objects
from assay.formats.reader import reader
from assay.formats.row_types import QueryRow, StratumRow
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written, optional_cell, refuse_ids, write_csv

MAX_QUERY = 2048
PERSONAL, DOUBTFUL = "W59", "W56"
_FIX = "review it; if it names a person, remove it from the file"


def could_be_query(text: str) -> bool:
    """Return whether the text of a query is valid."""
    return len(text) <= MAX_QUERY and "\0" not in text and bool(text.strip())


def query_fault(text: str) -> Fault | None:
    """Return the fault of a query text, or None.

    Examples
    --------
    >>> query_fault("rain jacket") is None, query_fault("  ").code, query_fault("x" * 3000).code
    (True, 'E11', 'E21')
    """
    if could_be_query(text):
        return None
    if not text.strip():
        return Fault("E11", "the query is empty", "add the query text to every row")
    if len(text) > MAX_QUERY:
        return Fault("E21", f"the query is {len(text)} characters long, more than {MAX_QUERY}", "shorten it")
    return Fault("E19", "the query contains a NUL character", "remove it")


def checked_query(value: Any) -> str:
    """Return the text of a query, or raise `RowFault` if it is invalid."""
    if not isinstance(value, str):
        raise RowFault("E23", f"the query is {value_kind(value)}, not text")
    if fault := query_fault(value):
        raise RowFault(*fault)
    return value


def note_personal(tally: Tally, line: int | None, text: str) -> None:
    """Report a query that may contain personal data, without repeating it."""
    # Its patterns take a fiftieth of a command that reads no queries.
    from assay.core.redaction import is_doubtful, redact

    shown, kinds = redact(text)
    if kinds:
        problem = f"a query that may contain personal data: {', '.join(kinds)}"
        tally.note(PERSONAL, line, problem, done="accepted unchanged", fix=_FIX, raw=shown, column="query")
    elif is_doubtful(text):
        problem = "this may be a disguised email address"
        tally.note(DOUBTFUL, line, problem, done="kept", fix=_FIX, raw=text, column="query")


def may_be_personal(text: str) -> bool:
    """Return whether `note_personal` reports a query."""
    from assay.core.redaction import is_doubtful, redact

    return bool(redact(text)[1]) or is_doubtful(text)


def query_id_fault(text: str) -> Fault | None:
    """Return the fault of a query id, or None."""
    fault = id_fault(text)
    return Fault(fault[0], f"the query id {fault[1]}", "correct the id") if fault else None


def numbered_ids(texts: Iterable[str], taken: Iterable[str] = (), *, of: str = "") -> dict[str, str]:
    """Return generated ids of distinct texts, with a prefix that is unique to the list.

    Examples
    --------
    >>> numbered_ids(["boots", "tent", "boots"])
    {'boots': 'q55a25f-001', 'tent': 'q55a25f-002'}
    """
    distinct = list(dict.fromkeys(texts))
    used = set(taken)
    prefix = hashlib.sha256("\x1f".join([of, *distinct]).encode("utf-8", "surrogatepass")).hexdigest()[:6]
    width = max(3, len(str(len(distinct) + len(used))))
    numbers = (f"q{prefix}-{number:0{width}d}" for number in range(1, len(distinct) + len(used) + 1))
    return dict(zip(distinct, (name for name in numbers if name not in used), strict=False))


HEADER = ["query_id", "query", "narrative", "group", "tier", "frequency", "clients", "probability", "weight"]
# Only in a file whose queries were drawn in several strata.
STRATA_HEADER = ["stratum", "share", "also"]
# Only in a file with query languages: a tag such as de or pt-BR.
LANGUAGE_HEADER = ["language"]
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
LONGEST_LANGUAGE = 35
# Maximum length of a stratum name.
MOST_LETTERS = 100
TIERS = ("", "head", "torso", "tail")
COLUMNS = Columns(
    {
        "query_id": ("qid", "id"),
        "query": ("query_text",),
        "narrative": ("need", "information_need"),
        "group": ("query_group",),
        "tier": (),
        "frequency": ("count",),
        "clients": (),
        "probability": (),
        "weight": (),
        "stratum": (),
        "share": (),
        "also": (),
        "language": ("lang", "locale"),
    },
    ("query",),
    numeric=frozenset({"frequency", "clients", "probability", "weight", "share"}),
)
# The names in JSON, among them those of BEIR, whose metadata is almost always an empty object.
KEYS = {
    **COLUMNS.known,
    "query_id": ("_id", *COLUMNS.known["query_id"]),
    "query": (*COLUMNS.known["query"], "text"),
}
# The names that BEIR and MTEB write.
BEIR_KEYS = {"query_id": "_id", "query": "text"}
SILENT_KEYS = frozenset({"metadata"})
# The first cell of a header in a TSV file.
_HEADER_IDS = {"qid", "query_id", "query-id", "id", "topic"}
_BREAKS = re.compile(r"\r\n|[\t\n\r]")


def _by_id(rows: Iterable[QueryRow]) -> list[QueryRow]:
    return sorted(rows, key=lambda row: row.query_id)


def write_queries_csv(rows: Iterable[QueryRow], stream: BinaryIO) -> Written:
    """Write queries in the order of their ids, with all columns; unknown values are empty cells.

    The columns ``stratum``, ``share`` and ``also`` are written if any query has a stratum, ``language`` if any has a
    language.
    """
    ordered = _by_id(rows)
    names = [*HEADER]
    names += STRATA_HEADER if any(row.stratum for row in ordered) else []
    names += LANGUAGE_HEADER if any(row.language for row in ordered) else []

    def cells(row: QueryRow) -> list[str]:
        return [
            optional_cell(getattr(row, name)) if name in COLUMNS.numeric else escape(_text_of(row, name))
            for name in names
        ]

    return write_csv(stream, names, ordered, cells, "query {0.query_id!r}")


# How `read_written` converts cells that are not texts.
CONVERTED: Mapping[str, Callable[[str], Any]] = {
    "frequency": int,
    "clients": int,
    "probability": float,
    "weight": float,
    "share": float,
    "also": lambda cell: tuple(map(_also, cell.split(";"))),
}


def read_written(body: bytes, path: str) -> Sequence[QueryRow]:
    """Return the queries of a file that `write_queries_csv` wrote, unchecked; any other file is read as an upload is.

    Examples
    --------
    >>> read_written(b"query_id,query,weight\\nq1,rain jacket,0.25\\n", "queries.csv")[0].weight
    0.25
    """
    try:
        rows = [
            QueryRow(**{name: CONVERTED.get(name, _text)(cell) for name, cell in cells.items() if cell})
            for cells in csv.DictReader(io.StringIO(body.decode(), newline=""))
        ]
    except (ValueError, TypeError, csv.Error):
        return CSV.read(body, path=path).rows
    return list({row.query_id: row for row in rows}.values())


def _text(cell: str) -> str:
    return unescape(cell) if cell[0] == "'" else cell


def _text_of(row: QueryRow, name: str) -> str:
    return also_cell(row.also) if name == "also" else str(getattr(row, name))


def also_cell(places: Iterable[StratumRow]) -> str:
    """Return the additional strata of a query as one cell.

    Examples
    --------
    >>> also_cell([StratumRow("shoes", 0.2, "head", 0.5, 0.03)])
    'shoes|0.2|head|0.5|0.03'
    """
    return ";".join(f"{one.stratum}|{one.share}|{one.tier}|{one.probability}|{one.weight}" for one in places)


def stratum_fault(name: str) -> str:
    """Return the fault of a stratum name, if any."""
    if odd := id_fault(name):
        return f"the stratum {odd[1]}"
    if len(name) > MOST_LETTERS:
        return f"the name has more than {MOST_LETTERS} characters"
    return "the name of a stratum must not contain | or ;" if "|" in name or ";" in name else ""


def keep_query(row: QueryRow, by_id: dict[str, QueryRow], tally: Tally, raw: str, repaired: bool) -> None:
    """Add one query by its id, or by its text if it has none."""
    key = row.query_id or row.query
    known = by_id.get(key)
    if known is None:
        by_id[key] = row
        tally.accept(repaired)
        note_personal(tally, row.line, row.query)
    elif known == row:
        tally.put("duplicate")
        what = f"repeats line {known.line}"
        tally.note("W33", row.line, what, done="counted once", fix="remove one of the two", raw=raw)
    elif known.query != row.query:
        what = f"{row.query!r} has the same id as {known.query!r} on line {known.line}"
        tally.reject("E18", row.line, what, fix="give each query a unique id", raw=raw, column="query_id")
    else:
        what = f"repeats the query of line {known.line} with different values"
        tally.reject("E16", row.line, what, fix="keep one of the two", raw=raw)


def _parse_csv(
    content: Content, tally: Tally, *, columns: ColumnMap = None, delimiter: str | None = None
) -> Iterator[QueryRow]:
    return read_queries(read_table(content, tally, COLUMNS, mapping=columns, delimiter=delimiter), tally)


def read_queries(records: Iterable[Cells], tally: Tally) -> Iterator[QueryRow]:
    """Yield the queries of records; queries without ids are numbered in the order of the file."""
    by_id: dict[str, QueryRow] = {}
    numbered = False
    for cells in records:
        with tally.rejecting(cells.line, raw=cells.raw):
            row = _row(cells)
            numbered = "query_id" not in cells.of
            keep_query(row, by_id, tally, cells.raw, cells.repaired)
    ids = numbered_ids(by_id) if numbered else {}
    for row in by_id.values():
        yield replace(row, query_id=ids[row.query]) if numbered else row


def _row(cells: Cells) -> QueryRow:
    of = cells.of
    text = of["query"]
    fault = query_fault(text) or (query_id_fault(of["query_id"]) if "query_id" in of else None)
    if fault:
        raise RowFault(*fault)
    if (group := of.get("group", "")) and (odd := id_fault(group)):
        raise RowFault(odd[0], f"the group {odd[1]}", "give the group a short name")
    tier = of.get("tier", "").strip()
    if tier not in TIERS:
        raise RowFault("E23", f"unknown tier {tier!r}", "expected head, torso or tail, or an empty cell")
    stratum, part = _stratum(of.get("stratum", ""), of.get("share", ""))
    return QueryRow(
        of.get("query_id", ""),
        text,
        of.get("narrative", ""),
        of.get("group", ""),
        tier,
        count(of.get("frequency", ""), "frequency"),
        count(of.get("clients", ""), "clients"),
        share(of.get("probability", ""), "probability", most=1.0),
        share(of.get("weight", ""), "weight"),
        stratum,
        part,
        tuple(_also(one) for one in of.get("also", "").split(";") if one.strip()),
        _language(of.get("language", "").strip()),
        cells.line,
    )


def _language(text: str) -> str:
    """Return a language tag, or nothing."""
    if text and (len(text) > LONGEST_LANGUAGE or not LANGUAGE.fullmatch(text)):
        raise RowFault(
            "E23",
            f"the language {text!r} is not a language tag",
            "expected a tag such as de or pt-BR, or an empty cell",
        )
    return text


def _stratum(name: str, cell: str) -> tuple[str, float | None]:
    """Return a stratum with its share of the traffic; both must be given or neither."""
    if not name and not cell:
        return "", None
    part = share(cell, "share", most=1.0)
    if not name or not part:
        raise RowFault(
            "E23", "a stratum without a share of the traffic, or a share without a stratum", "give both, or neither"
        )
    if odd := stratum_fault(name):
        raise RowFault("E23", odd, "give the stratum a short name")
    return name, part


def _also(text: str) -> StratumRow:
    parts = text.split("|")
    expected = "expected stratum|share|tier|probability|weight; separate several with ;"
    if len(parts) != 5 or parts[2] not in TIERS:
        raise RowFault("E23", f"the column 'also' contains {text!r}", expected)
    name, part = _stratum(parts[0].strip(), parts[1])
    probability, weight = share(parts[3], "probability", most=1.0), share(parts[4], "weight")
    if part is None or not probability or weight is None:
        raise RowFault("E23", f"the column 'also' contains {text!r}", expected)
    return StratumRow(name, part, parts[2], probability, weight)


def _write_jsonl(rows: Iterable[QueryRow], stream: BinaryIO, *, beir: bool = False) -> Written:
    """Write queries in the order of their ids; unknown values are left out. ``beir`` writes the keys of BEIR's
    queries.jsonl.
    """
    return write_objects((_as_json(row, BEIR_KEYS if beir else {}) for row in _by_id(rows)), stream)


def _write_parquet(rows: Iterable[QueryRow], stream: BinaryIO) -> Written:
    """Write queries in the order of their ids, with the columns of MTEB and those that have a value."""
    names = [BEIR_KEYS.get(name, name) for name in (*HEADER, *STRATA_HEADER, *LANGUAGE_HEADER)]
    return write_parquet_objects([_as_json(row, BEIR_KEYS) for row in _by_id(rows)], names, stream)


def _as_json(row: QueryRow, renamed: Mapping[str, str]) -> dict[str, Any]:
    columns = (*HEADER, *STRATA_HEADER, *LANGUAGE_HEADER)
    values = {name: getattr(row, name) for name in columns} | {"also": also_cell(row.also)}
    present = {name: value for name, value in values.items() if value not in (None, "") or name in HEADER[:2]}
    return {renamed.get(name, name): value for name, value in present.items()}


def _parse_jsonl(content: Content, tally: Tally) -> Iterator[QueryRow]:
    return read_queries(_records(objects(content, tally), tally), tally)


def _parse_parquet(content: Content, tally: Tally) -> Iterator[QueryRow]:
    return read_queries(_records(parquet_objects(content, tally), tally), tally)


def _records(elements: Iterable[Element], tally: Tally) -> Iterator[Cells]:
    numbered: bool | None = None
    for element in elements:
        with tally.rejecting(element.line, raw=element.raw):
            cells = _element_cells(element, tally)
            numbered = "query_id" not in cells.of if numbered is None else numbered
            if ("query_id" not in cells.of) is not numbered:
                raise RowFault("E23", f"a query {'with' if numbered else 'without'} an id, unlike earlier queries")
            yield cells


def _element_cells(element: Element, tally: Tally) -> Cells:
    """Return an object as the cells of a record."""
    taken: dict[str, str] = {}
    for column, others in KEYS.items():
        if alias := next((name for name in (column, *others) if name in element.of), None):
            taken[column] = alias
    for name in element.of.keys() - set(taken.values()) - SILENT_KEYS:
        note_rest(name, element.line, taken, KEYS, tally, "key")
    if "query" not in taken:
        raise RowFault("E23", "no query, query_text or text")
    of = {column: _json_text(element.of[name], name) for column, name in taken.items()}
    return Cells(element.line, of, {}, element.raw, False)


def _json_text(value: Any, name: str) -> str:
    if isinstance(value, bool | dict | list):
        raise RowFault("E23", f"{name} is {value_kind(value)}, not text")
    return "" if value is None else str(value)


def _write_tsv(rows: Iterable[QueryRow], stream: BinaryIO) -> Written:
    """Write queries in the order of their ids; a TAB or line break inside a query becomes one space."""
    ordered = _by_id(rows)
    refuse_ids("queries-tsv", (row.query_id for row in ordered), spaces=True)
    notes = []
    for row in ordered:
        text = _BREAKS.sub(" ", row.query)
        if text != row.query:
            notes.append(f"query {row.query_id!r}: TABs and line breaks were replaced with spaces")
        cells = escape(row.query_id), escape(text)
        if cells != (row.query_id, text):
            notes.append(
                f"query {row.query_id!r}: an apostrophe was added before text that a spreadsheet would run as a formula"
            )
        stream.write("\t".join(cells).encode() + b"\n")
    return Written(len(ordered), tuple(notes))


def _parse_tsv(content: Content, tally: Tally, *, header: bool | None = None, tabs: bool = False) -> Iterator[QueryRow]:
    by_id: dict[str, QueryRow] = {}
    for line, text in content.lines():
        tally.read()
        query_id, tab, query = text.partition("\t")
        if not text.strip():
            tally.put_blank(line)
        elif not by_id and not tally.bins["header"] and header is not False and _is_header(query_id, header):
            if header is None:
                expected = "set whether the file has a header (header=true or header=false)"
                tally.refuse(
                    f"the first line looks like a header: {text[:80]!r}", line=line, expected=expected, code="F04"
                )
            tally.put("header")
        elif not tab or ("\t" in query and not tabs):
            what = f"{amount(text.count(chr(9)) + 1, 'column')} instead of 2"
            tally.reject("E10", line, what, fix="expected an id, one TAB and the query", raw=text)
        elif fault := query_id_fault(query_id) or query_fault(query):
            tally.reject(fault.code, line, fault.what, fix=fault.fix, raw=text)
        else:
            plain = unescape(query_id), unescape(query)
            if repaired := plain != (query_id, query):
                tally.once("W37", line, "an apostrophe in front of a formula", done="removed")
            keep_query(QueryRow(*plain, line=line), by_id, tally, text, repaired)
    yield from by_id.values()


def _is_header(first: str, header: bool | None) -> bool:
    return header is True or first.strip().casefold() in _HEADER_IDS


CSV = Format(
    name="queries-csv",
    title="Queries, CSV",
    kind="queries",
    extensions=(".csv", ".tsv"),
    description="One query per record, with its need, group, tier, traffic, inclusion probability and weight.",
    read=reader("queries-csv", "query_id,query", _parse_csv, empty="queries"),
    write=write_queries_csv,
    example=(
        "query_id,query,narrative,group,tier,frequency,clients,probability,weight\n"
        "q001,rain jacket,A jacket for hikes in the rain,,head,1204,380,0.5,0.012\n"
    ),
    options={"columns": "maps columns of the file, such as frequency=searches"},
)
JSONL = Format(
    name="queries-jsonl",
    title="Queries, JSONL",
    tool="BEIR",
    kind="queries",
    description="One query per line; also reads BEIR's queries.jsonl (_id, text) and the columns of queries-csv.",
    read=reader("queries-jsonl", '{"query_id": "q001", "query": "running shoes"}', _parse_jsonl),
    write=_write_jsonl,
    example='{"query_id": "q001", "query": "running shoes"}\n{"query_id": "q002", "query": "rain jacket"}\n',
)
TSV = Format(
    name="queries-tsv",
    title="Queries, TSV",
    tool="MS MARCO",
    kind="queries",
    extensions=(".tsv", ".txt"),
    description="One query per line: its id, a TAB, its text. Use it with files that contain only ids.",
    read=reader("queries-tsv", "q001<TAB>running shoes", _parse_tsv, empty="queries"),
    write=_write_tsv,
    example="q001\trunning shoes\nq002\train jacket\n",
    options={"header": "true or false: whether the first line is a header", "tabs": "true: a query may contain TABs"},
)
PARQUET = Format(
    name="queries-parquet",
    title="Queries, Parquet",
    tool="MTEB",
    kind="queries",
    description="One query per row, with the columns of MTEB's queries (_id, text) or of queries-csv, shown as CSV.",
    read=reader("queries-parquet", "the columns _id and text", _parse_parquet, empty="queries", encoded=False),
    write=_write_parquet,
    example=CSV.example,
    binary=True,
)
