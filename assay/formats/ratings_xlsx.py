"""Ratings as an XLSX workbook: one row of a sheet for each rater's grade of a pair.

openpyxl reads and writes workbooks and is imported only for them. Row numbers of the sheet replace line numbers.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from assay.core.csv_cells import escape, unescape
from assay.core.errors import BeyondLimits, NotValid, UnreadableInput
from assay.core.read_report import MAX_RAW, RowFault, Tally
from assay.formats import text_lines
from assay.formats.column_names import ColumnMap
from assay.formats.delimited import Cells, Columns, Header, Record, check_mapping, names_of, read_header
from assay.formats.format import Format
from assay.formats.grade_cells import Grades, Keyed, Pick
from assay.formats.ratings_csv import add_rating
from assay.formats.reader import reader
from assay.formats.row_types import RatingRow
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook

NAME, SHEET = "ratings-xlsx", "Ratings"
COLUMNS = Columns(
    {
        "query_id": ("qid",),
        "query_text": ("query",),
        "doc_id": ("docno", "docid"),
        "grade": ("rating",),
        "rater_id": ("rater", "judge"),
        "notes": ("note", "explanation"),
        "state": (),
        "source": (),
        "guideline": (),
        "rated_at": (),
        "ms_active": (),
    },
    ("doc_id", "grade"),
)
# The columns of a rating by their names in a sheet.
_FIELDS = {"query_text": "query", "notes": "note"}
_NAMES = {name: column for column, name in _FIELDS.items()}
_ALWAYS = ("query_id", "query_text", "doc_id", "grade", "rater_id", "notes")
_HEADER = "query_id,query_text,doc_id,grade,rater_id,notes"
_EXAMPLE = f'{_HEADER}\nq001,running shoes,doc-abc,3,r01,\nq001,running shoes,doc-xyz,0,r02,"a bag, not a shoe"\n'
# Limits of a workbook: the whole content, and what Excel accepts.
MOST_BYTES, MOST_PARTS, MOST_COLUMNS = 1 << 29, 2_000, 256
MOST_ROWS, LONGEST_TEXT = 1_048_576, 32_767
# The header is in one of the first rows.
FIRST_ROWS = 20
# Characters that XML cannot contain, or reads as another one.
_NOT_XML = re.compile("[\0-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
_DATED = (1980, 1, 1, 0, 0, 0)
_CORE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<cp:coreProperties '
    'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"/>\n'
)


def _parse(
    content: Content,
    tally: Tally,
    *,
    grades: Grades = None,
    columns: ColumnMap = None,
    conflicts: Pick | None = None,
    escaped: bool = True,
    sheet: str | None = None,
) -> Iterator[RatingRow]:
    # Columns may be mapped by their names in any format of ratings.
    mapping = {_NAMES.get(name, name): column for name, column in (columns or {}).items()}
    check_mapping(mapping, COLUMNS)
    if not content.workbook:
        tally.refuse("is not an XLSX workbook", expected="save the table as .xlsx, or read it as ratings-csv")
    by_key: Keyed[RatingRow] = Keyed(tally, conflicts)
    ids: dict[str, str] = {}
    for cells in _cells(content, tally, mapping, sheet, escaped):
        add_rating(cells, ids, tally, grades, by_key)
    for row in by_key.rows():
        if row.grade is not None:
            tally.grade(row.grade)
        yield row


def _cells(
    content: Content, tally: Tally, mapping: Mapping[str, str], sheet: str | None, escaped: bool
) -> Iterator[Cells]:
    """Yield the rows of the sheet with the ratings as named cells."""
    book = _opened(content.binary(), tally)
    name = sheet or _sheet_with_columns(book, tally, mapping)
    if name not in book.sheetnames:
        known = ", ".join(map(repr, book.sheetnames))
        tally.refuse(f"has no sheet {name!r}; it has {known}", expected="name one of them (sheet=NAME)", code="F04")
    for other in book.sheetnames if sheet is None else ():
        if other != name:
            tally.once("W69", None, f"the sheet {other!r}", done="not read", column=other)
    header: Header | None = None
    for line, row in _rows(book, name, tally):
        content.lines_read = line
        tally.read()
        if all(cell.value is None or cell.value == "" for cell in row):
            tally.put_blank(line)
        elif header is None:
            names = ["" if cell.value is None else str(cell.value) for cell in row]
            while names and not names[-1].strip():
                names.pop()
            header = read_header(Record(line, names, ",".join(names)), tally, COLUMNS, mapping)
        elif (cells := _named(row, line, header, tally, name, escaped)) is not None:
            yield cells


def _named(row: Sequence[Any], line: int, header: Header, tally: Tally, sheet: str, escaped: bool) -> Cells | None:
    """Return a row's cells by the names of a rating's columns; None for a row with a formula, which is rejected."""
    raw = ", ".join("" if cell.value is None else str(cell.value) for cell in row[: len(header.names)])[:MAX_RAW]
    of: dict[str, str] = {}
    repaired = False
    for column, place in header.places.items():
        cell = row[place] if place < len(row) else None
        where = f"{sheet}!{_letters(place)}{line}"
        try:
            text, numbered = _text(cell, column, where)
        except RowFault as fault:
            tally.reject(fault.code, line, str(fault), fix=fault.fix, raw=raw, column=column)
            return None
        if numbered:
            tally.once("W42", line, "an id is a number", done="read as text", column=column)
        if escaped and text[:1] == "'" and (plain := unescape(text)) != text:
            tally.once("W37", line, "an apostrophe in front of a formula", done="removed", column=column)
            text, repaired = plain, True
        repaired |= numbered
        of[_FIELDS.get(column, column)] = text
    return Cells(line, of, {}, raw, repaired)


def _text(cell: Any, column: str, where: str) -> tuple[str, bool]:
    """Return a cell as text, and whether it is an id that the sheet stores as a number."""
    value = None if cell is None else cell.value
    if value is None:
        return "", False
    if cell.data_type == "f":
        raise RowFault("E28", f"the cell {where} contains a formula", "replace it with its value (paste values only)")
    if isinstance(value, str) and cell.data_type != "e":
        return value, False
    if isinstance(value, int | float) and not isinstance(value, bool):
        is_id = column in ("query_id", "doc_id", "rater_id")
        if is_id and not isinstance(value, int):
            raise RowFault("E23", f"the cell {where} contains the number {value}", "format the cell as text")
        return repr(value), is_id
    kind = "an error" if cell.data_type == "e" else "a date" if hasattr(value, "isoformat") else value_kind(value)
    if hasattr(value, "isoformat") and column == "rated_at":
        return str(value.isoformat()), False
    raise RowFault("E23", f"the cell {where} contains {kind}", "enter text or a number in the cell")


def _letters(place: int) -> str:
    """Return the letters of a column by its position from 0.

    Examples
    --------
    >>> _letters(0), _letters(27)
    ('A', 'AB')
    """
    first, last = divmod(place, 26)
    return (_letters(first - 1) if first else "") + chr(ord("A") + last)


def _opened(data: bytes, tally: Tally) -> Workbook:
    """Open a workbook after a check of its parts."""
    import openpyxl

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_parts(archive, len(data), tally)
        return openpyxl.load_workbook(io.BytesIO(data), read_only=True)
    except (BeyondLimits, UnreadableInput):
        raise
    except Exception as error:
        # openpyxl raises any exception for parts that contradict each other.
        _damaged(tally, error)


def _check_parts(archive: zipfile.ZipFile, packed: int, tally: Tally) -> None:
    """Refuse a workbook that expands to too much, or whose XML could."""
    parts = archive.infolist()
    size = sum(part.file_size for part in parts)
    far = size > text_lines.RATIO_MATTERS_FROM and size > text_lines.MAX_RATIO * packed
    if size > MOST_BYTES or far or len(parts) > MOST_PARTS:
        what = f"is a workbook of {len(parts):,} parts that expand to {size:,} bytes"
        tally.refuse(what, expected="remove other sheets and images, or save the table as CSV", code="F02")
    ceiling = text_lines.CEILING
    if ceiling is not None and size > ceiling.expanded:
        raise BeyondLimits(
            f"{tally.path} has more than {ceiling.expanded >> 20:,} MB when decompressed. Split the file."
        )
    for part in parts:
        if part.filename.endswith((".xml", ".rels")):
            with archive.open(part) as stream:
                if b"<!DOCTYPE" in stream.read(text_lines.HEAD):
                    what = (
                        f"has a document type in the part {part.filename[:200]!r}, which no spreadsheet program writes"
                    )
                    tally.refuse(what, expected="save the table again", code="F02")


def _damaged(tally: Tally, error: Exception) -> NoReturn:
    what = f"is a damaged or unsupported workbook ({type(error).__name__}: {str(error)[:200]})"
    tally.refuse(what, expected="save the table again as .xlsx, or as CSV", code="F02")


def _rows(book: Workbook, name: str, tally: Tally, last: int | None = None) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield (number, cells) of the rows of a sheet."""
    try:
        sheet: Any = book[name]
        # The dimensions that a file declares may be wrong.
        sheet.reset_dimensions()
        rows = sheet.iter_rows(max_row=last, max_col=_width(sheet))
        for line, row in enumerate(rows, 1):
            if text_lines.CEILING is not None and line > text_lines.CEILING.lines:
                raise BeyondLimits(f"{tally.path} has more than {text_lines.CEILING.lines:,} rows. Split the file.")
            yield line, row
    except (BeyondLimits, UnreadableInput):
        raise
    except Exception as error:
        _damaged(tally, error)


def _width(sheet: Any) -> int:
    """Return the number of columns of the first rows; a cell far to the right would make all rows wide."""
    rows = sheet.iter_rows(max_row=FIRST_ROWS, max_col=MOST_COLUMNS)
    return max((at for row in rows for at, cell in enumerate(row, 1) if cell.value not in (None, "")), default=1)


def _sheet_with_columns(book: Workbook, tally: Tally, mapping: Mapping[str, str]) -> str:
    """Return the first visible sheet whose header has the columns of ratings, or else the first sheet."""
    visible: list[str] = [sheet.title for sheet in book.worksheets if sheet.sheet_state == "visible"]
    for name in visible:
        filled = (row for _, row in _rows(book, name, tally, FIRST_ROWS) if any(cell.value for cell in row))
        header = {str(cell.value).strip().casefold() for cell in next(filled, ())}
        wanted = (names_of(column, COLUMNS, mapping) for column in COLUMNS.required)
        if all(header & {one.casefold() for one in names} for names in wanted):
            return name
    if not visible:
        tally.refuse("has no visible sheet", expected="add a sheet with the ratings", code="F07")
    return visible[0]


def write(rows: Iterable[RatingRow], stream: BinaryIO, *, omit_unrated: bool = True) -> Written:
    """Write ratings by query, document and rater; the columns after the notes appear only if a rating needs them."""
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    exported = (row for row in rows if not (omit_unrated and row.state == "unrated"))
    ordered = sorted(exported, key=lambda row: (row.query_id, row.doc_id, row.rater))
    if len(ordered) >= MOST_ROWS:
        raise NotValid(
            f"a sheet has at most {MOST_ROWS:,} rows, and there are {len(ordered):,} ratings; use ratings-csv"
        )
    usual = {"state": ("graded", "unrated"), "source": ("human",), "ms_active": (None,)}
    more = [name for name in COLUMNS.known if name not in _ALWAYS]
    names = [*_ALWAYS, *(one for one in more if any(getattr(row, one) not in usual.get(one, ("",)) for row in ordered))]
    for row in ordered:
        _refuse_unwritable(row)
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(SHEET)
    sheet.freeze_panes = "A2"

    def cell(value: object) -> Any:
        if not isinstance(value, str) or value[:1] not in "#=":
            return value
        # Otherwise openpyxl would write a text such as #N/A as an error, and =1 as a formula.
        made = WriteOnlyCell(sheet, value)
        made.data_type = "s"
        return made

    sheet.append([cell(name) for name in names])
    for row in ordered:
        sheet.append([cell(value) for value in _values(row, names)])
    _repacked(book, stream)
    return Written(len(ordered))


def _values(row: RatingRow, names: Sequence[str]) -> Iterator[object]:
    for name in names:
        value = row.rater if name == "rater_id" else getattr(row, _FIELDS.get(name, name))
        if name == "state" and value == "unrated":
            value = ""
        if isinstance(value, str):
            value = value if name in ("state", "source", "rated_at") else escape(value)
        yield value or None if isinstance(value, str) else value


def _refuse_unwritable(row: RatingRow) -> None:
    """Raise an exception if a text of a rating does not fit into a cell."""
    for name in ("query_id", "query", "doc_id", "rater", "state", "source", "guideline", "rated_at", "note"):
        text = getattr(row, name)
        if len(text) < LONGEST_TEXT and not _NOT_XML.search(text):
            continue
        problem = "a control character" if len(text) < LONGEST_TEXT else f"{LONGEST_TEXT:,} characters or more"
        what = f"the {name} of document {row.doc_id!r}, query {row.query_id!r}, has {problem}"
        raise NotValid(f"{what}, which a cell cannot contain; correct it, or use ratings-csv")


def _repacked(book: Workbook, stream: BinaryIO) -> None:
    """Write a workbook so that the same rows give the same bytes: without times, in the order of the names."""
    packed = io.BytesIO()
    book.save(packed)
    with zipfile.ZipFile(packed) as archive, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as fixed:
        for name in sorted(archive.namelist()):
            content = _CORE.encode() if name == "docProps/core.xml" else archive.read(name)
            fixed.writestr(zipfile.ZipInfo(name, _DATED), content, zipfile.ZIP_DEFLATED)


FORMAT = Format(
    name=NAME,
    title="Ratings, XLSX",
    kind="ratings",
    description=(
        "One judgment of one rater per row of a sheet, with the columns query_id, query_text, doc_id, grade, rater_id "
        "and notes; formulas are refused. Requires assay[xlsx]."
    ),
    read=reader(NAME, _HEADER, _parse, encoded=False),
    write=write,
    example=_EXAMPLE,
    options={
        "grades": "grade scale; by default any whole number is accepted",
        "columns": "maps columns of the sheet, such as rater_id=agent",
        "conflicts": "first, last, min or max: which of a rater's two grades for a pair to use",
        "escaped": "false: keep apostrophes in front of formulas",
        "sheet": "name of the sheet; by default the first one with the columns",
    },
    binary=True,
)
