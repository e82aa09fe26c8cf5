"""Validation of the searches in a query log, with the rule for queries that a counted log lists twice."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from assay.core.read_report import MAX_RAW, RowFault, Tally
from assay.core.text_rules import amount, id_fault
from assay.formats.column_names import DOC_ID
from assay.formats.grade_cells import count as whole_number
from assay.formats.queries import checked_query
from assay.formats.row_types import LogRow
from assay.formats.timestamps import EXPECTED, IN_WORDS, family, time_kind

if TYPE_CHECKING:
    from assay.formats.delimited import Cells

Repeated = Literal["sum", "max", "first", "each"]


# Columns that describe searches, and columns that name documents.
SEARCHED = ("count", "clients", "timestamp", "client_id", "clicks")
DOCUMENT_ID = {"doc_id", *DOC_ID}


def check_for_queries(columns: Container[str], tally: Tally, line: int) -> None:
    """Refuse a list of queries, which has ids but nothing that describes searches."""
    if "query_id" in columns and not any(name in columns for name in SEARCHED):
        remedy = "import it as queries, which keeps the ids; if a column counts searches, name it (columns: count=NAME)"
        problem = "looks like a list of queries: it has ids but no count, time or client"
        tally.refuse(problem, line=line, expected=remedy)


def check_for_pairs(names: Iterable[str], of: Callable[[str], Iterable[str]], tally: Tally, line: int) -> None:
    """Refuse queries with documents, such as labels or clicks, without anything that describes searches."""
    there = {name.casefold() for name in names}
    named = sorted(there & DOCUMENT_ID)
    if named and not any(name.casefold() in there for column in SEARCHED if column != "clicks" for name in of(column)):
        problem = f"looks like queries with documents ({named[0]}) and has no count, time or client"
        remedy = "read it as labels, as a run or as clicks; if a column counts searches, name it (columns: count=NAME)"
        tally.refuse(problem, line=line, expected=remedy)


class LogBooks:
    """Validation of the searches of one log; every search is counted in its bin."""

    def __init__(self, tally: Tally, repeated: Repeated | None) -> None:
        self._tally, self._repeated = tally, repeated
        # The family of the file's first time, which all times must share, and the kinds that occurred.
        self.family: str | None = None
        self._kinds: set[str] = set()
        self._counted: dict[str, tuple[LogRow, str, bool]] = {}
        self._held: set[str] = set()

    def take(self, of: Mapping[str, str | None], *, line: int, raw: str, repaired: bool = False) -> Iterator[LogRow]:
        """Yield a search by its columns at once; a counted query is yielded later by `counted`."""
        if of.get("count") is None and not (of["query"] or "").strip():
            # A search with an empty search box creates such a row, which is not an error.
            self._tally.put("rejected")
            self._tally.once("W50", line, "a search without a query", done="left out")
            return
        with self._tally.rejecting(line, raw=raw):
            row = self._row(of, line)
            if of.get("count") is None or self._repeated == "each":
                self._tally.accept(repaired)
                yield row
            else:
                self._count(row, raw, repaired)

    def take_cells(self, cells: Cells) -> Iterator[LogRow]:
        """Add one record of a table."""
        return self.take(cells.of, line=cells.line, raw=cells.raw, repaired=cells.repaired)

    def agrees(self, kinds: Mapping[str, int]) -> bool:
        """Return whether times of these kinds are consistent with the file's first time."""
        families = {family(kind) for kind in kinds}
        if len(families | ({self.family} if self.family else set())) > 1:
            return False
        for kind, line in sorted(kinds.items(), key=lambda one: one[1]):
            self.family = family(kind)
            if kind in IN_WORDS and kind not in self._kinds:
                self._tally.note("W54", line, f"times are {IN_WORDS[kind]}", done="accepted", column="timestamp")
            self._kinds.add(kind)
        return True

    def counted(self) -> Iterator[LogRow]:
        """Yield the counted queries, in the order of the file."""
        return (row for query, (row, _, _) in self._counted.items() if query not in self._held)

    def all_counted(self) -> list[LogRow]:
        """Return the counted queries, including conflicting ones."""
        return [row for row, _, _ in self._counted.values()]

    def _row(self, of: Mapping[str, str | None], line: int) -> LogRow:
        query, count = of["query"] or "", of.get("count")
        texts = {name: of.get(name) or "" for name in ("timestamp", "client_id", "clicks", "language")}
        checked_query(query)
        number = 1 if count is None else whole_number(count, "count", least=1)
        if number is None:
            raise RowFault("E12", "the count is empty", "expected a number such as 12")
        if timestamp := texts["timestamp"].strip():
            self._check_time(timestamp, line)
        clients, query_id = None, ""
        if count is not None:
            clients, query_id = whole_number(of.get("clients") or "", "clients"), of.get("query_id") or ""
        if query_id and (wrong := id_fault(query_id)):
            raise RowFault("E23", f"the query_id {query_id!r} {wrong[1]}", "fix the query_id")
        language = texts["language"].strip(" \t")
        return LogRow(query, number, timestamp, texts["client_id"], texts["clicks"], line, language, clients, query_id)

    def _check_time(self, timestamp: str, line: int) -> None:
        kind = time_kind(timestamp)
        if kind is None:
            raise RowFault("E23", f"the timestamp {timestamp!r} is not a time", EXPECTED)
        if not self.agrees({kind: line}):
            here, first = (IN_WORDS.get(one, "a date") for one in (family(kind), str(self.family)))
            raise RowFault(
                "E23", f"the timestamp is {here}, the first one was {first}", "use one kind of timestamp per file"
            )

    def _count(self, row: LogRow, raw: str, repaired: bool) -> None:
        known = self._counted.get(row.query)
        if known is None:
            self._counted[row.query] = row, raw[:MAX_RAW], repaired
            self._tally.accept(repaired)
            return
        first, first_raw, first_repaired = known
        what = f"repeats the query {row.query!r}, counted {amount(first.count, 'time')} on line {first.line}"
        if self._repeated is not None:
            count = {"sum": first.count + row.count, "max": max(first.count, row.count), "first": first.count}
            clients = first.clients if self._repeated == "first" else _most(first.clients, row.clients)
            self._counted[row.query] = (
                replace(first, count=count[self._repeated], clients=clients),
                first_raw,
                first_repaired,
            )
            self._tally.put("duplicate")
            self._tally.once("W33", row.line, what, done=f"kept the {self._repeated}")
            return
        fix = "choose whether to use the sum, the max or the first count (repeated=sum)"
        if row.query not in self._held:
            self._held.add(row.query)
            self._tally.move("repaired" if first_repaired else "accepted", "conflict")
            repeated = f"the query {row.query!r} appears again on line {row.line}"
            self._tally.note("E16", first.line, repeated, done="rejected", fix=fix, raw=first_raw)
        self._tally.put("conflict")
        self._tally.note("E16", row.line, what, done="rejected", fix=fix, raw=raw)


def _most(some: int | None, others: int | None) -> int | None:
    """Return the larger number of clients, a lower bound for their union."""
    return max((number for number in (some, others) if number is not None), default=None)
