"""Labels, runs and ratings from Python objects: paths, dicts, data frames, rows, and the library's own tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.ratings import Ratings
from assay.core.run import Run, run_names
from assay.formats.column_names import LABEL_COLUMNS, RESULT_COLUMNS
from assay.formats.run_reader import RunFile
from assay.formats.value_kinds import value_kind

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
        from assay.formats.qrels_and_runs import load_labels

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
        from assay.formats import FORMATS
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
        from assay.formats.qrels_and_runs import open_run

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
