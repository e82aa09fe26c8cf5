"""Labels, runs and ratings from files in any format that Assay reads, and from Python objects.

The content of a file decides its format. TREC files have their own readers; other well-formed files are read as
columns, and the rest row by row with a report of all problems. Objects are dicts, data frames, rows, and the library's
own tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotValid, UnreadableInput
from assay.core.qrels import Qrels
from assay.core.ratings import Ratings
from assay.core.run import Run, run_names
from assay.formats import FORMATS, Format, sniff
from assay.formats.column_names import LABEL_COLUMNS, RESULT_COLUMNS
from assay.formats.reader import NeedsCare, Read, finish, lookalike, open_as, recognize
from assay.formats.text_lines import HEAD, Content, Source, reusable_source
from assay.formats.trec_run import Interleaved, RunFile, RunRows, usable_ranks
from assay.formats.value_kinds import value_kind

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
            yield _run_rows(columns)

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
        parts = [_run_rows(columns) for columns in member.quick(content, tally)]
    if not parts:
        raise NeedsCare
    return RunRows.joined(parts), finish(content, tally)


def _run_rows(columns: PairColumns) -> RunRows:
    import numpy as np

    size = len(columns.values)
    ranks = np.zeros(size) if columns.ranks is None else usable_ranks(columns.ranks)
    lines = np.zeros(size, dtype=np.int64) if columns.lines is None else columns.lines
    return RunRows(columns.query_ids, columns.doc_ids, columns.values, ranks, lines)


def _strictly(member: Format, source: Rereadable, path: str) -> Read[Any]:
    result = member.read(source, path=path)
    result.report.raise_if_errors()
    return result


RATING_COLUMNS = {
    "query_id": LABEL_COLUMNS["query_id"],
    "doc_id": LABEL_COLUMNS["doc_id"],
    "rater_id": ("rater", "annotator", "worker_id"),
    "grade": LABEL_COLUMNS["grade"],
}
Rows = list[tuple[Any, ...]]


def read_qrels(source: Any, *, format: str | None = None) -> Qrels:
    """Return labels from a path, a dict, a data frame or rows.

    Parameters
    ----------
    source : path, dict, DataFrame, iterable or Qrels
        A file in any qrels format, or labels.jsonl of a judge, which ``Qrels.machine`` then names; ``{query_id:
        {doc_id: grade}}``, as pytrec_eval takes it; a pandas or polars data frame with the columns ``query_id``,
        ``doc_id`` and ``grade`` (``qid``, ``docno``, ``label``, ``relevance`` and similar names are also read); rows of
        ``(query_id, doc_id, grade)``, or objects with ``query_id``, ``doc_id`` and ``relevance``, such as those of
        ir_measures and ir_datasets.
    format : str, optional
        The format of a file; by default detected from the content.

    Raises
    ------
    UnreadableInput
        When a file cannot be read.
    NotValid
        When a column is missing, an id is missing, or a grade is not a finite number.

    Examples
    --------
    >>> read_qrels({"q1": {"d1": 3, "d2": 0}}).to_dict()
    {'q1': {'d1': 3.0, 'd2': 0.0}}
    >>> read_qrels([("q1", "d1", 3)]).to_dict()
    {'q1': {'d1': 3.0}}
    """
    if isinstance(source, Qrels):
        return source
    if isinstance(source, str | Path):
        return load_labels(str(source), format)[0]
    if isinstance(source, Mapping):
        return Qrels.from_dict(_nested(source, "labels", "grade"))
    return Qrels.from_rows(_triples(source, "labels", LABEL_COLUMNS, "grade", ("grade", "relevance")))


def read_run(source: Any, name: str = "", *, format: str | None = None) -> Run:
    """Return a run from a path, a dict, a data frame or rows.

    Parameters
    ----------
    source : path, dict, DataFrame, iterable, Run or RunFile
        A file in any format of runs; ``{query_id: {doc_id: score}}``; a data frame with the columns ``query_id``,
        ``doc_id`` and ``score``, or ``rank`` if there are no scores; rows of ``(query_id, doc_id, score)``, or objects
        with these attributes, such as ScoredDoc of ir_measures.
    name : str
        Name of the system; by default the file's name up to the first dot, or ``run``.
    format : str, optional
        The format of a file; by default detected from the content.

    Raises
    ------
    UnreadableInput
        When a file cannot be read.
    NotValid
        When a column is missing, a document appears twice in a query, or a score is not a number.

    Examples
    --------
    >>> read_run({"q1": {"d1": 9.1, "d2": 8.7}}, "bm25").ranking("q1")
    ['d1', 'd2']
    """
    run = _run(source, name, format)
    return run.whole() if isinstance(run, RunFile) else run


def read_runs(source: Any) -> list[Run | RunFile]:
    """Return runs from one run, a sequence of runs, or a mapping of names to runs; files are opened, not read.

    Examples
    --------
    >>> bm25, neural = {"q1": {"d1": 9.1}}, {"q1": {"d2": 0.9}}
    >>> [run.name for run in read_runs({"bm25": bm25, "neural": neural})]
    ['bm25', 'neural']
    """
    if isinstance(source, Mapping) and not _is_run_dict(source):
        return [_run(one, str(name), None) for name, one in source.items()]
    if isinstance(source, Mapping | str | Path | Run | RunFile) or _columns(source) is not None:
        source = [source]
    if not isinstance(source, Iterable):
        raise NotValid(f"the runs are {value_kind(source)}; {_EXPECTED}")
    many = list(source)
    paths = [str(one) for one in many if isinstance(one, str | Path)]
    taken = [one.name for one in many if isinstance(one, Run | RunFile)]
    named = iter(run_names([Path(path).name for path in paths], taken))
    unnamed = sum(not isinstance(one, str | Path | Run | RunFile) for one in many)
    numbered = iter(["run"] if unnamed == 1 else [f"run{number}" for number in range(1, unnamed + 1)])
    return [
        one
        if isinstance(one, Run | RunFile)
        else _run(one, next(named if isinstance(one, str | Path) else numbered), None)
        for one in many
    ]


def read_ratings(source: Any, scale: Sequence[int] = (0, 1, 2, 3)) -> Ratings:
    """Return the grades of raters from a path, a data frame or rows."""
    if isinstance(source, Ratings):
        return source
    if isinstance(source, str | Path):
        from assay.formats.ratings_csv import HUMAN, graded

        read = FORMATS["ratings-csv"].read(Path(source), path=str(source), grades=tuple(scale)).strict()
        return graded(read.rows, HUMAN)
    rows = _rows(source, "ratings", RATING_COLUMNS)
    return Ratings.from_rows(
        (str(query), str(doc), str(rater), _number(grade, "grade")) for query, doc, rater, grade in rows
    )


_EXPECTED = "use a path, a dict that maps queries to document scores, a data frame, a Run, or several of these"


def _run(source: Any, name: str, format: str | None) -> Run | RunFile:
    if isinstance(source, Run | RunFile):
        if name and name != source.name:
            return (source.whole() if isinstance(source, RunFile) else source).named(name)
        return source
    if isinstance(source, str | Path):
        return open_run(Path(source), str(source), name or run_names([Path(source).name])[0], format)
    if isinstance(source, Mapping):
        return Run.from_dict(_nested(source, f"run {name!r}", "score"), name or "run")
    return Run.from_rows(_triples(source, "run", RESULT_COLUMNS, "score", ("score",)), name or "run")


def _is_run_dict(source: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is {query_id: {doc_id: score}}, not {name: run}."""
    first = next(iter(source.values()), None)
    return isinstance(first, Mapping) and all(isinstance(value, Real) for value in first.values())


def _nested(source: Mapping[Any, Any], what: str, value: str) -> Mapping[str, Mapping[str, float]]:
    for query_id, documents in source.items():
        if not isinstance(documents, Mapping):
            raise NotValid(
                f"{what}: query {query_id!r} has {value_kind(documents)}; use {{query_id: {{doc_id: {value}}}}}"
            )
    return source


def _columns(source: Any) -> list[str] | None:
    """Return the columns of a data frame; None for anything else."""
    columns = getattr(source, "columns", None)
    if columns is None or not hasattr(source, "__getitem__") or isinstance(source, Mapping):
        return None
    return list(columns)


def _rows(source: Any, what: str, known: Mapping[str, tuple[str, ...]]) -> Rows:
    """Return rows in the order of the known columns, from a data frame or as they are."""
    columns = _columns(source)
    if columns is None:
        if isinstance(source, str | bytes) or not isinstance(source, Iterable):
            raise NotValid(f"the {what} are {value_kind(source)}; use a path, a dict, a data frame or rows")
        rows = [tuple(row) for row in source]
        odd = next((row for row in rows if len(row) != len(known)), None)
        if odd is not None:
            raise NotValid(f"the {what} have a row of {len(odd)} values; use ({', '.join(known)})")
        return rows
    names = _named(columns, known)
    missing = next((column for column in known if column not in names), None)
    if missing is not None:
        others = ", ".join(known[missing])
        raise NotValid(
            f"the {what} have no column {missing} (or {others}); their columns are {', '.join(map(str, columns))}"
        )
    return list(
        zip(
            *(
                _ids(source, names[column], what) if column.endswith("_id") else source[names[column]].to_list()
                for column in known
            ),
            strict=True,
        )
    )


def _named(columns: Sequence[str], known: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the column of a frame for each known column: the first of its names that the frame has."""
    folded: dict[str, str] = {}
    for column in columns:
        folded.setdefault(str(column).casefold(), column)
    located = {}
    for column, others in known.items():
        name = next((name for name in (column, *others) if name in folded), None)
        if name is not None:
            located[column] = folded[name]
    return located


def _ids(frame: Any, column: str, what: str) -> list[str]:
    values = frame[column].to_list()
    for row, value in enumerate(values, 1):
        if value is None or value != value:
            raise NotValid(f"the {what}: row {row} has no {column}; drop the row or fill in the id")
    if values and not isinstance(values[0], str):
        odd = next((value for value in values if isinstance(value, float) and not value.is_integer()), None)
        if odd is not None:
            raise NotValid(f"the {what}: the {column} {odd!r} is a fraction; read the ids as strings")
        return [str(int(value)) if isinstance(value, float) else str(value) for value in values]
    return [str(value) for value in values]


def _triples(
    source: Any, what: str, known: Mapping[str, tuple[str, ...]], value: str, attributes: tuple[str, ...]
) -> list[tuple[str, str, float]]:
    """Return rows of query, document and number."""
    columns = _columns(source)
    names, sign = _named(columns or [], known), 1.0
    if value == "score" and "score" not in names and "rank" in names:
        # Without scores, the ranks determine the order.
        value, sign = "rank", -1.0
    three = {name: known[name] for name in ("query_id", "doc_id", value)}
    if columns is None and isinstance(source, Iterable) and not isinstance(source, str | bytes):
        source = list(source)
        name = next((name for name in attributes if source and hasattr(source[0], name)), None)
        if name is not None and hasattr(source[0], "doc_id"):
            source = [(row.query_id, row.doc_id, getattr(row, name)) for row in source]
    return [
        (str(query), str(document), sign * _number(number, value))
        for query, document, number in _rows(source, what, three)
    ]


def _number(value: Any, column: str) -> Any:
    if value is None or isinstance(value, str | bool) or not isinstance(value, Real):
        raise NotValid(f"the {column} {value!r} is not a number; convert the column to numbers")
    return value
