"""Validation of click log rows, shared by the flat click log formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.core.counted_nouns import amount
from assay.core.ids import id_fault
from assay.core.read_report import Tally
from assay.formats.column_names import DOC_ID, QUERY_ID
from assay.formats.delimited import Columns
from assay.formats.grade_cells import RowFault
from assay.formats.number_cells import count as whole_number
from assay.formats.query_texts import query_fault, query_id_fault
from assay.formats.reader import note_unusual
from assay.formats.row_types import ClickRow

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

    def take(self, of: Mapping[str, str], *, line: int, raw: str, bin: str = "accepted") -> Iterator[ClickRow]:
        """Yield the row if it is valid."""
        if not self._looked:
            self._look_at_columns(of, line)
        if "query_id" not in of and not of.get("query", "").strip():
            without_query(self._tally, line)
            return
        try:
            row = self._row(of, line)
        except RowFault as fault:
            self._tally.reject(fault.code, line, str(fault), fix=fault.fix, raw=raw)
            return
        note_unusual(self._tally, line, row.doc_id)
        self._tally.put(bin)
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


def checked_id(doc_id: str) -> None:
    """Return a document id, or raise RowFault if it is invalid."""
    if fault := id_fault(doc_id):
        raise RowFault(fault[0], f"the document id {fault[1]}", "correct the id")


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
