"""Load labels and runs from a file in any format that Assay reads.

The content decides the format. TREC files have their own readers; other well-formed files are read as columns, and the
rest row by row with a report of all problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotValid, UnreadableInput
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.formats import FORMATS, Format, sniff
from assay.formats.detection import lookalike, recognize
from assay.formats.reader import NeedsCare, Read, finish, open_as
from assay.formats.run_reader import Interleaved, RunFile, RunRows, usable_ranks
from assay.formats.text_lines import HEAD, Content, Source, reusable_source

if TYPE_CHECKING:
    from assay.core.read_report import Report, Tally
    from assay.formats.pair_columns import PairColumns
    from assay.formats.row_types import RunRow

MACHINE_FORMAT = "labels-jsonl"


def load_labels(
    path: str, format: str | None = None, labels_of: str | None = None, *, hashed: bool = True
) -> tuple[Qrels, Report]:
    """Return the labels of a file as qrels, and the report with its hash and warnings.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     line = '{"query_id": "q1", "doc_id": "d1", "outcome": "graded", "grade": 2, "judge": "words"}'
    ...     print(line, file=file, flush=True)
    ...     qrels, report = load_labels(file.name)
    >>> qrels.to_dict(), qrels.machine
    ({'q1': {'d1': 2.0}}, MachineSource(judge='words', outcomes={'graded': 1}))
    """
    source = reusable_source(Path(path))
    if format != MACHINE_FORMAT and (format is not None or not _is_labels_jsonl(path, source)):
        if labels_of is not None:
            raise NotValid(f"{path}: --labels-of applies only to labels.jsonl of a judge; remove it")
        return load_qrels(source, path, format, hashed=hashed)
    from assay.formats import labels_jsonl

    read = labels_jsonl.read(source, path=path)
    read.report.raise_if_errors()
    machine, grades = labels_jsonl.machine_labels(path, read.rows, labels_of, "--labels-of")
    qrels = Qrels.from_rows((query_id, doc_id, grade) for (query_id, doc_id), grade in grades.items())
    qrels.machine = machine
    return qrels, read.report


def _is_labels_jsonl(path: str, source: Path | str | bytes) -> bool:
    with Content(source, path, block=HEAD, hashed=False) as content:
        # Only JSON can contain labels of a judge; tables have their own readers.
        head = content.head
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and sniff(head) == MACHINE_FORMAT


Rereadable = Path | str | bytes
TREC = {"qrels": "trec-qrels", "run": "trec-run"}


def load_qrels(
    source: Source, path: str = "-", format: str | None = None, *, hashed: bool = True
) -> tuple[Qrels, Report]:
    """Return the qrels of a file, strictly, and the report with its hash and warnings.

    Examples
    --------
    >>> qrels, report = load_qrels(b'{"q1": {"d1": 3, "d2": 0}}')
    >>> report.format, qrels.to_dict()
    ('qrels-json', {'q1': {'d1': 3.0, 'd2': 0.0}})
    """
    held = reusable_source(source)
    member = recognized(held, path, "qrels", format)
    if member.name == TREC["qrels"]:
        from assay.formats.trec_qrels import load_qrels_report

        return load_qrels_report(held, path, hashed=hashed)
    try:
        columns, report = _quickly(member, held, path)
        return Qrels.from_columns(columns.query_ids, columns.doc_ids, columns.scores), report
    except (NeedsCare, NotValid):
        # If a row is odd or a pair is repeated, the row-by-row reader reports it.
        result = _strictly(member, held, path)
    rows = [row for row in result.rows if row.grade is not None]
    if not rows:
        raise UnreadableInput(path, None, "contains no judgments", "expected a grade for at least one pair", "F07")
    # Generated ids could be those of other queries in a run.
    keys = ((row.query if member.by_text else row.query_id, row.doc_id, row.grade) for row in rows)
    qrels = Qrels.from_rows(keys)
    qrels.duplicates = result.report.bins["duplicate"]
    return qrels, result.report


def load_run(source: Source, path: str = "-", name: str = "run", format: str | None = None) -> tuple[Run, Report]:
    """Return the run of a file in one piece, strictly, and the report; parameters and errors as for `open_run`."""
    file = open_run(source, path, name, format)
    return file.whole(), file.report


def open_run(
    source: Source, path: str = "-", name: str = "run", format: str | None = None, *, hashed: bool = True
) -> RunFile:
    """Open the run of a file for reading on demand.

    Parameters
    ----------
    source : path, bytes or binary stream
        The file; ``Path("-")`` is standard input. A stream is read into memory.
    path : str
        The file as the user named it.
    name : str
        Name of the system.
    format : str, optional
        A format of kind ``run``; by default detected from the content.
    hashed : bool
        Whether the report must have the file's hash.

    Raises
    ------
    UnreadableInput
        When the file cannot be opened, or its format is not recognized.
    NotValid
        When ``format`` is not a run format.

    Examples
    --------
    >>> file = open_run(b"query_id,doc_id,score\\nq1,d1,2.5\\n", name="bm25")
    >>> file.whole().to_dict(), file.report.format
    ({'q1': {'d1': 2.5}}, 'run-csv')
    """
    held = reusable_source(source)
    member = recognized(held, path, "run", format)
    if member.name == TREC["run"]:
        return RunFile(held, path, name, hashed=hashed)
    return _OtherRun(member, held, path, name)


def read_rows(source: Source, path: str, kind: str, format: str | None = None) -> Read[Any]:
    """Return the rows of a file with ranks and tags, strictly."""
    held = reusable_source(source)
    return _strictly(recognized(held, path, kind, format), held, path)


def recognized(source: Rereadable, path: str, kind: str, format: str | None = None) -> Format:
    """Return the given or detected format of a file of some kind (``qrels`` or ``run``)."""
    if format is not None:
        if FORMATS[format].kind != kind:
            raise NotValid(f"{format} is not a format of {kind}; known: {_known(kind)}")
        return FORMATS[format]
    with Content(source, path, block=HEAD, hashed=False) as content:
        head = content.head
    name = recognize(head, path, kind, f"--{kind}-format {{}}")
    if name is None and head.lstrip()[:1] in (b"{", b"["):
        if near := sniff(head):
            expected = f"name its format with --{kind}-format, one of {_known(kind)}"
            other = lookalike(head, near)
            what, expected = other or (near, expected)
            raise UnreadableInput(path, None, f"looks like {what}, not like {kind}", expected, "F03")
        name = f"{kind}-json"
    # The TREC reader gives the best messages for lines of unknown format.
    return FORMATS[name or TREC[kind]]


def _known(kind: str) -> str:
    # Reading a format's kind imports it, which is acceptable for messages but not for every file.
    return ", ".join(name for name in FORMATS if FORMATS[name].kind == kind)


class _OtherRun(RunFile):
    """A run in another format than TREC's."""

    def __init__(self, member: Format, source: Rereadable, path: str, name: str) -> None:
        super().__init__(source, path, name)
        self._member, self._reusable, self._ranked = member, source, True

    def blocks(self) -> Iterator[Run]:
        """Yield runs of some whole queries each; together they are the file."""
        try:
            yield from super().blocks()
        except (NeedsCare, NotValid):
            raise Interleaved from None

    def whole(self) -> Run:
        """Return the run in one piece."""
        try:
            return super().whole()
        except (NeedsCare, NotValid):
            return self._with_care()

    def rows(self) -> RunRows:
        """Return the rows in the order of the file, with their ranks."""
        try:
            return super().rows()
        except (NeedsCare, NotValid, UnreadableInput):
            result = _strictly(self._member, self._reusable, self.path)
        self.report = result.report
        return _by_text(result.rows)

    def _open(self) -> tuple[Content, Tally]:
        return _opened(self._member, self._reusable, self.path)

    def _with_care(self) -> Run:
        result = _strictly(self._member, self._reusable, self.path)
        if not result.rows:
            raise UnreadableInput(
                self.path, None, "contains no results", "expected a document for at least one query", "F07"
            )
        rows = _by_text(result.rows)
        self.report = result.report
        return Run.from_columns(rows.query_ids, rows.doc_ids, rows.scores, self.name)

    def _pieces(self, content: Content, tally: Tally) -> Iterator[RunRows]:
        if self._member.quick is None:
            raise NeedsCare
        for columns in self._member.quick(content, tally):
            self._ranked = columns.ranks is not None
            yield _rows(columns)

    def _run(self, rows: RunRows, tally: Tally) -> Run:
        if self._ranked:
            return rows.run(self.name, tally)
        return Run.from_columns(rows.query_ids, rows.doc_ids, rows.scores, self.name)


def _by_text(rows: Sequence[RunRow]) -> RunRows:
    """Return the columns of rows; generated ids are replaced with the texts, as in qrels."""
    if rows and rows[0].by_text:
        rows = [replace(row, query_id=row.query) for row in rows]
    return RunRows.of(rows)


def _opened(member: Format, source: Rereadable, path: str) -> tuple[Content, Tally]:
    return open_as(source, path, member.name, member.example.partition("\n")[0])


def _quickly(member: Format, source: Rereadable, path: str) -> tuple[RunRows, Report]:
    """Return the columns of a well-formed file."""
    content, tally = _opened(member, source, path)
    with content:
        if member.quick is None:
            raise NeedsCare
        parts = [_rows(columns) for columns in member.quick(content, tally)]
    if not parts:
        raise NeedsCare
    return RunRows.joined(parts), finish(content, tally)


def _rows(columns: PairColumns) -> RunRows:
    import numpy as np

    size = len(columns.values)
    ranks = np.zeros(size) if columns.ranks is None else usable_ranks(columns.ranks)
    lines = np.zeros(size, dtype=np.int64) if columns.lines is None else columns.lines
    return RunRows(columns.query_ids, columns.doc_ids, columns.values, ranks, lines)


def _strictly(member: Format, source: Rereadable, path: str) -> Read[Any]:
    result = member.read(source, path=path)
    result.report.raise_if_errors()
    return result
