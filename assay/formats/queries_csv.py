"""Queries as CSV, with needs, tiers and traffic."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, replace
from functools import partial
from typing import BinaryIO

from assay.core.csv_cells import csv_row, escape
from assay.core.errors import NotValid
from assay.core.ids import id_fault
from assay.core.read_report import Tally
from assay.formats.delimited import Cells, Columns, read_table
from assay.formats.format import Format
from assay.formats.grade_cells import RowFault
from assay.formats.number_cells import count, share
from assay.formats.personal_queries import note_personal
from assay.formats.query_texts import numbered_ids, query_fault, query_id_fault
from assay.formats.reader import Read, collect, open_as
from assay.formats.row_types import QueryRow, StratumRow
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written

NAME = "queries-csv"
EXAMPLE = (
    "query_id,query,narrative,group,tier,frequency,clients,probability,weight\n"
    "q001,rain jacket,A jacket for hikes in the rain,,head,1204,380,0.5,0.012\n"
)
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


def read(
    source: Source,
    *,
    path: str = "-",
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Read[QueryRow]:
    """Read queries and account for every record; only the column ``query`` is required."""
    content, tally = open_as(source, path, NAME, "query_id,query", encoding=encoding)
    return collect(content, tally, partial(_parse, mapping=columns, delimiter=delimiter), empty="queries")


def write(rows: Iterable[QueryRow], stream: BinaryIO) -> Written:
    """Write queries in the order of their ids, with all columns; unknown values are empty cells.

    The columns ``stratum``, ``share`` and ``also`` are written if any query has a stratum, ``language`` if any has a
    language.
    """
    ordered = sorted(rows, key=lambda row: row.query_id)
    strata = any(row.stratum for row in ordered)
    languages = any(row.language for row in ordered)
    further = [*(STRATA_HEADER if strata else ()), *(LANGUAGE_HEADER if languages else ())]
    stream.write(csv_row([*HEADER, *further]).encode())
    for row in ordered:
        texts = [escape(cell) for cell in (row.query_id, row.query, row.narrative, row.group, row.tier)]
        numbers = [_text(value) for value in (row.frequency, row.clients, row.probability, row.weight)]
        more = [escape(row.stratum), _text(row.share), escape(also_cell(row.also))] if strata else []
        more += [escape(row.language)] if languages else []
        try:
            stream.write(csv_row([*texts, *numbers, *more]).encode())
        except UnicodeEncodeError as error:
            raise NotValid(f"query {row.query_id!r} cannot be written as UTF-8: {error}") from error
    return Written(len(ordered))


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


def keep_query(row: QueryRow, by_id: dict[str, QueryRow], tally: Tally, raw: str, bin: str) -> None:
    """Add one query by its id, or by its text if it has none."""
    key = row.query_id or row.query
    known = by_id.get(key)
    if known is None:
        by_id[key] = row
        tally.put(bin)
        note_personal(tally, row.line, row.query)
    elif astuple(known)[:-1] == astuple(row)[:-1]:
        tally.put("duplicate")
        what = f"is the same as line {known.line}"
        tally.note("W33", row.line, what, done="counted once", fix="remove one of the two", raw=raw)
    elif known.query != row.query:
        what = f"{row.query!r} has the same id as {known.query!r} on line {known.line}"
        tally.reject("E18", row.line, what, fix="give each query a unique id", raw=raw, column="query_id")
    else:
        what = f"repeats the query of line {known.line} with different values"
        tally.reject("E16", row.line, what, fix="keep one of the two", raw=raw)


def _parse(
    content: Content, tally: Tally, mapping: Mapping[str, str] | None, delimiter: str | None
) -> Iterator[QueryRow]:
    return read_queries(read_table(content, tally, COLUMNS, mapping=mapping, delimiter=delimiter), tally)


def read_queries(records: Iterable[Cells], tally: Tally) -> Iterator[QueryRow]:
    """Yield the queries of records; queries without ids are numbered in the order of the file."""
    by_id: dict[str, QueryRow] = {}
    numbered = False
    for cells in records:
        try:
            row = _row(cells)
        except RowFault as fault:
            tally.reject(fault.code, cells.line, str(fault), fix=fault.fix, raw=cells.raw)
            continue
        numbered = "query_id" not in cells.of
        keep_query(row, by_id, tally, cells.raw, "repaired" if cells.repaired else "accepted")
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
        raise RowFault("E23", f"the column also contains {text!r}", expected)
    name, part = _stratum(parts[0].strip(), parts[1])
    probability, weight = share(parts[3], "probability", most=1.0), share(parts[4], "weight")
    if part is None or not probability or weight is None:
        raise RowFault("E23", f"the column also contains {text!r}", expected)
    return StratumRow(name, part, parts[2], probability, weight)


def _text(value: float | None) -> str:
    return "" if value is None else str(value)


FORMAT = Format(
    name=NAME,
    title="Queries, CSV",
    kind="queries",
    extensions=(".csv", ".tsv"),
    description="One query per record, with its need, group, tier, traffic, inclusion probability and weight.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "columns": "maps columns of the file, such as frequency=searches",
        "delimiter": "comma, semicolon or TAB; detected from the header by default",
        "encoding": "latin-1 for old files",
    },
)
