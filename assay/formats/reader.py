"""Detection of a file's format from its first bytes, and the shared parts of all readers: result, report, refusals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from assay.core.errors import UnreadableInput
from assay.core.read_report import Report, Tally
from assay.core.text_rules import is_unusual
from assay.formats.column_names import BEIR_HEADER, DOC_ID, GRADE, QUERY_ID, RANK, SCORE
from assay.formats.signatures import SIGNATURES
from assay.formats.text_lines import MAX_EXPANDED, Content, Source, numbered_lines
from assay.formats.trec_lines import fields, number

if TYPE_CHECKING:
    from assay.core.text_column import Places

Row = TypeVar("Row")


class NeedsCare(Exception):
    """Raised when a file needs the slower careful reader, which reports what is wrong."""


@dataclass(frozen=True, slots=True)
class Read(Generic[Row]):
    """The usable rows and the report."""

    rows: Sequence[Row]
    report: Report

    def strict(self) -> Self:
        """Return this; raise an exception if the file has an error."""
        self.report.raise_if_errors()
        return self


def collect(
    content: Content, tally: Tally, parse: Callable[[Content, Tally], Iterable[Row]], *, empty: str = ""
) -> Read[Row]:
    """Read everything and finish the report."""
    with content:
        rows = parse(content, tally)
        # Rows that are stored as columns stay so.
        listed = rows if isinstance(rows, Sequence) else list(rows)
    if empty and not tally.units - tally.bins["blank"] - tally.bins["comment"]:
        tally.refuse(f"contains no {empty}", code="F07")
    return Read(listed, finish(content, tally))


def reader(
    format: str, line: str, parse: Callable[..., Iterable[Row]], *, empty: str = "", encoded: bool = True
) -> Callable[..., Read[Row]]:
    """Return the reader of a format for a function that yields its rows; its keyword arguments are the options."""

    def read(source: Source, *, path: str = "-", **options: Any) -> Read[Row]:
        """Read a file and account for every line."""
        encoding = options.pop("encoding", "utf-8") if encoded else "utf-8"
        opened = open_as(source, path, format, line, encoding=encoding)
        return collect(*opened, partial(parse, **options), empty=empty)

    *usual, others = signature(read).parameters.values()
    own = [one for one in signature(parse).parameters.values() if one.kind is Parameter.KEYWORD_ONLY]
    own += [others.replace(name="encoding", kind=Parameter.KEYWORD_ONLY)] if encoded else []
    read.__signature__ = Signature([*usual, *own])  # type: ignore[attr-defined]
    return read


def refuse_early(
    content: Content, tally: Tally, parse: Callable[[Iterable[tuple[int, str]], Tally], Iterable[object]]
) -> None:
    """Read the first lines first, so that a large file of the wrong format is refused early."""
    whole = content.head.rfind(b"\n") + 1
    try:
        lines = list(numbered_lines(content.head[:whole]))
    except UnicodeDecodeError:
        # Reading the file reports the line.
        return
    trial = Tally(tally.path, tally.format, tally.expected)
    rows = list(parse(lines, trial)) if whole else []
    report = trial.report()
    if report.errors and not rows and {problem.code for problem in report.errors} == {"E10"}:
        first = report.errors[0]
        tally.refuse(f"this does not look like {tally.format}: {first.what}", line=first.line)
    report.raise_if_errors()


def note_unusual(tally: Tally, line: int, *ids: str) -> None:
    """Flag ids with a space outside ASCII or not in NFC (W39), because a look-alike may exist."""
    if any(map(is_unusual, ids)):
        what = "an id with an unusual space, or not in Unicode form NFC"
        tally.once("W39", line, what, done="accepted unchanged")


def filled_lines(lines: Iterable[tuple[int, str]], tally: Tally) -> Iterator[tuple[int, str]]:
    """Yield the lines with content; blank lines are counted here."""
    for line, text in lines:
        tally.read()
        if text.strip():
            yield line, text
        else:
            tally.put_blank(line)


def note_skipped(tally: Tally, before: int, comments: Places | Sequence[int], blanks: Places) -> None:
    """Count comments and blank lines of a piece."""
    for bin, code, what, lines in (("comment", "W34", "a comment", comments), ("blank", "W35", "a blank", blanks)):
        if len(lines):
            tally.put(bin, len(lines))
            tally.once(code, before + int(lines[0]), f"{what} line", done="skipped", times=len(lines))


def finish(content: Content, tally: Tally) -> Report:
    """Report repairs of the file as a whole, and return the report."""
    if content.bom:
        tally.once("W30", 1, "the file begins with a byte order mark", done="removed")
    if content.carriage_return_line is not None:
        line = content.carriage_return_line
        tally.once("W31", line, "lines end in CRLF or CR", done="read as line endings")
    if not content.ends_in_newline:
        tally.once("W36", content.lines_read, "the last line has no line ending", done="read as a complete line")
    return tally.report(sha256=content.sha256, size=content.size, lines=content.lines_read)


def open_as(
    source: Source,
    path: str,
    format: str,
    example: str,
    *,
    encoding: str = "utf-8",
    limit: int = MAX_EXPANDED,
    hashed: bool = True,
) -> tuple[Content, Tally]:
    """Open an input with its counters, and prepare the message for a file of another format."""
    content = Content(source, path, encoding=encoding, limit=limit, hashed=hashed)
    near = sniff(content.head)
    if near and near != format:
        from assay.formats import FORMATS

        # A file may match several formats; {"q1": {"d1": 3}} may be qrels or a run.
        near = None if sniff(content.head, FORMATS[format].kind) == format else near
    hint = f"; the nearest format is {near}" if near and near != format else ""
    if hint and (other := lookalike(content.head, near)):
        hint = f"; this looks like {other[0]}: {other[1]}"
    return content, Tally(path, format, f"expected {format}, a line such as {example!r}{hint}")


MAX_LINES = 20

_DOCUMENT_ID = {"doc_id", "docno", "docid", "id", "_id", "document_id", "product_id"}
_OWN_DOC_ID = {"doc_id", "docno", "docid"}
_DOCUMENT_TEXT = {"title", "name", "text", "description", "content", "body"}
_LOG = {"count", "timestamp", "client_id", "clicks"}
_QUERY = {"query", "query_text", "user_query"}
# The action lines of a bulk request.
_ACTION = {"index", "create"}
# Click columns, which no run, qrels or query log has next to a document.
_CLICKED = {"clicked", "clicks", "impressions"}
_QUERY_ID = {"query_id", *QUERY_ID}
_DOC_ID = {"doc_id", *DOC_ID}
_GRADE = {"grade", *GRADE} - {"score"}
_SCORE = {"score", *SCORE}
_RANK = {"rank", *RANK}
# Files with raters, states or outcomes are ratings: several grades of one pair, not yet combined.
_RATER = {"rater", "rater_id", "judge", "state", "outcome"}
# Fields of RAG samples and outputs that no other format has, and those that may accompany them.
_SAMPLE = {"sample_id", "reference_answer", "relevant_docs", "candidate_docs", "ground_truth", "reference_contexts"}
_SAMPLE_QUERY = {"query", "question", "user_input"}
_OUTPUT = {"response", "answer", "retrieved", "retrieved_docs", "contexts", "retrieved_contexts", "timings"}
_TEXT = r'"(?:[^"\\]|\\.)*"'
# A query, and its first document with its number: {"q1": {"d1": 3
_NESTED = re.compile(rf"\{{\s*{_TEXT}\s*:\s*\{{\s*(?:\}}\s*,\s*{_TEXT}\s*:\s*\{{\s*)*{_TEXT}\s*:\s*([^\s,}}]+)")
# {"query": {"id": ...}, "documents": [...]} in either order; its line may be longer than the head.
_ZBENCH = re.compile(r'\{\s*(?:"query"\s*:\s*\{[^\n]*"documents"\s*:\s*\[|"documents"\s*:\s*\[\s*(?:\{|\]))')
_ZBENCH_PAIRS = re.compile(r'\{\s*"scored_pairs"\s*:\s*\[')

# Formats of JSONL with their keys, which no other format has.
_BY_KEYS = (
    ("triplets-jsonl", {"query", "positive", "negative"}),
    ("triplets-jsonl", {"anchor", "positive", "negative"}),
    ("flagembedding-jsonl", {"query", "pos", "neg"}),
    ("umbrela-judgments-jsonl", {"query", "passage", "judgment"}),
    ("graded-pairs-jsonl", {"query", "document", "score"}),
    ("graded-pairs-jsonl", {"sentence1", "sentence2", "score"}),
)

# The short names of the formats of query logs.
LOG_FORMATS = {"csv": "query-log-csv", "jsonl": "query-log-jsonl", "ubi": "query-log-ubi"}


def sniff(head: bytes, kind: str | None = None) -> str | None:
    """Return the name of the format that a file looks like, or None.

    Parameters
    ----------
    head : bytes
        The beginning of the decoded file; 64 KiB are enough.
    kind : str, optional
        Only formats of this kind: ``qrels``, ``run``, ``documents``, ...

    Examples
    --------
    >>> sniff(b"q1 Q0 d1 1 12.5 bm25\\n"), sniff(b"q1 0 d1 3\\n"), sniff(b"query,count\\nshoes,12\\n")
    ('trec-run', 'trec-qrels', 'query-log-csv')
    >>> sniff(b"query,frequency\\nshoes,12\\n", kind="queries")
    'queries-csv'
    """
    text = head.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    if head.startswith(b"PAR1") and b"\0" in head:
        # ranx uses the same column names for both; callers request labels explicitly.
        names = ["run-parquet", "qrels-parquet", "queries-parquet", "documents-parquet"]
    elif head.startswith(b"PK\x03\x04"):
        names = ["ratings-xlsx"]
    else:
        names = [name for name, pattern in SIGNATURES if pattern.match(text)]
        names += _json_names(text) if text[:1] in ("{", "[") else _table_names(text)
    if kind is not None:
        from assay.formats import FORMATS

        # Most likely formats first, because formats that are not checked are not imported.
        return next((name for name in names if FORMATS[name].kind == kind), None)
    return names[0] if names else None


def recognize(head: bytes, path: str, kind: str | None = None, option: str = "--format {}") -> str | None:
    """Return the name of the format that a file looks like, as `sniff` does, unless another format looks the same."""
    name = sniff(head, kind)
    if name is not None and (other := lookalike(head, name)) is not None:
        what, remedy = other
        raise UnreadableInput(
            path, 1, f"looks like {what}", f"{remedy}; to read the file as {name}, use {option.format(name)}", "F03"
        )
    return name


def log_format(source: Source, path: str, option: str) -> str:
    """Return the format of a query log: CSV or JSONL by the file name, and the kind of JSONL by the content."""
    if not path.removesuffix(".gz").endswith((".jsonl", ".ndjson")):
        return LOG_FORMATS["csv"]
    with Content(source, path) as content:
        return recognize_or(content.head, path, "query-log", LOG_FORMATS["jsonl"], option)


def recognize_or(head: bytes, path: str, kind: str, default: str, option: str = "--format {}") -> str:
    """Return the format of this kind that a file looks like, or the default for unknown content."""
    if (name := recognize(head, path, kind, option)) is not None:
        return name
    text = head.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    if text[:1] in ("{", "[") and (near := sniff(head)) is not None:
        what, remedy = lookalike(head, near) or (near, "read it in its own format")
        remedy = f"{remedy}; to read the file as {default}, use {option.format(default)}"
        raise UnreadableInput(path, 1, f"looks like {what}", remedy, "F03")
    return default


def lookalike(head: bytes, name: str | None) -> tuple[str, str] | None:
    """Return what else a readable file looks like and how to read it, or None.

    Examples
    --------
    >>> head = b'{"_id": "1", "text": "rain jacket", "metadata": {}}'
    >>> lookalike(head, "documents-jsonl")[0], lookalike(head, "queries-jsonl")
    ("BEIR's queries.jsonl", None)
    """
    import json

    if name in ("run-csv", "run-json", "run-jsonl"):
        labels = sniff(head, "qrels")
        remedy = f"if these are judgments, read the file as qrels in the format {labels}"
        return ("BEIR's qrels", remedy) if _has_beir_grades(head) else None
    if name not in ("documents-jsonl", "query-log-jsonl", "queries-jsonl"):
        return None
    try:
        first = json.loads(head.decode("utf-8", "replace").removeprefix("\ufeff").lstrip().partition("\n")[0])
    except (RecursionError, ValueError):
        return None
    keys = set(first) if isinstance(first, dict) else set()
    if name == "documents-jsonl":
        is_beir = _is_beir_query(keys)
        return ("BEIR's queries.jsonl", "if these are queries, set the format to queries-jsonl") if is_beir else None
    if "candidates" in keys:
        return "an umbrela request", "read the pairs in the format umbrela-requests-jsonl"
    if "passage" in keys and keys & {"judgment", "prediction"}:
        return "judgments of umbrela", "read the labels in the format umbrela-judgments-jsonl"
    return None


def _has_beir_grades(head: bytes) -> bool:
    """Return whether rows have the columns of BEIR's qrels, in any order, and whole numbers as scores."""
    text = head.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    first, _, rest = text.partition("\n")
    if text[:1] in ("{", "["):
        rows = [re.findall(rf'({_TEXT})\s*:\s*("[^"]*"|[^\s,}}]+)', row) for row in text.split("}")[:MAX_LINES]]
        cells = [{name.strip('"'): value.strip('"') for name, value in row} for row in rows if row]
    else:
        delimiter = max(",;\t", key=first.count)
        names = [name.strip().strip('"').casefold() for name in first.split(delimiter)]
        cells = [dict(zip(names, line.split(delimiter), strict=False)) for line in rest.splitlines()[:MAX_LINES]]
    whole = re.compile(r'\s*"?-?\d+(?:\.0*)?"?\s*')
    cells = [row for row in cells if any(row.values())]
    return bool(cells) and all(
        set(row) == {"query-id", "corpus-id", "score"} and whole.fullmatch(row["score"]) for row in cells
    )


def _is_beir_query(keys: set[str]) -> bool:
    """Return whether these are the keys of a BEIR query, or of a document without a title."""
    return {"_id", "text"} <= keys <= {"_id", "text", "metadata"}


def _json_names(text: str) -> list[str]:
    import json

    if text.startswith("["):
        return ["judgment-list"] if '"ratings"' in text else _list_names(text)
    if '"assay_manifest"' in text:
        return ["manifest"]
    if _ZBENCH_PAIRS.match(text):
        return ["zbench-ai-scores"]
    if _ZBENCH.match(text):
        return _zbench_names(text)
    nested = _NESTED.match(text)
    try:
        first = json.loads(text.partition("\n")[0])
    except (RecursionError, ValueError):
        return _nested_names(nested[1]) if nested else []
    keys = set(first) if isinstance(first, dict) else set()
    names = _rag_names(keys) if keys & _SAMPLE else []
    names += [name for name, needed in _BY_KEYS if needed <= keys]
    if {"query_id", "doc_id", "outcome"} <= keys:
        names.append("labels-jsonl")
    if {"query_id", "a", "b"} <= keys:
        names.append("battles-jsonl")
    if {"query_id", "doc_id", "score", "se"} <= keys:
        names.append("scores-jsonl")
    if "user_query" in keys or "action_name" in keys or (len(keys) == 1 and keys <= _ACTION and '"ubi_' in text):
        kinds = ["query-log-ubi", "click-log-ubi"]
        names.extend(reversed(kinds) if "action_name" in keys else kinds)
    if _is_clicked(keys):
        names.append("click-log-jsonl")
    names.extend(f"{kind}-jsonl" for kind in _pair_kinds(keys))
    if {"query_id", "doc_id"} <= keys:
        names.append("pairs-jsonl")
    if _is_ranked(keys):
        names.append("run-jsonl")
    if keys & _DOCUMENT_ID and keys & _DOCUMENT_TEXT and "query_id" not in keys:
        names.append("documents-jsonl")
    if keys & _QUERY and not keys & _OWN_DOC_ID:
        queries = bool(keys & _QUERY_ID) and not keys & _LOG
        names.extend(["queries-jsonl", "query-log-jsonl"] if queries else ["query-log-jsonl", "queries-jsonl"])
    elif _is_beir_query(keys):
        names.append("queries-jsonl")
    if not keys & _SAMPLE:
        names.extend(_rag_names(keys))
    return names or (_nested_names(nested[1]) if nested else [])


def _rag_names(keys: set[str]) -> list[str]:
    """Return the RAG formats (samples, outputs, ragas rows) that match; rows with a document or query id match none."""
    if keys & (_OWN_DOC_ID | _QUERY_ID):
        return []
    names = ["ragas-jsonl"] if "user_input" in keys else []
    names += ["samples-jsonl"] if keys & _SAMPLE_QUERY else []
    return [*names, "outputs-jsonl"] if keys & _OUTPUT else names


def _zbench_names(text: str) -> list[str]:
    import json

    try:
        first = json.loads(text.partition("\n")[0])
        scored = any("score" in one for one in first["documents"])
    except (KeyError, RecursionError, TypeError, ValueError):
        # The line continues beyond the head.
        scored = '"score"' in text
    return ["zbench-annotated", "zbench-dataset"] if scored else ["zbench-dataset"]


def _nested_names(number: str) -> list[str]:
    """Return qrels or run for nested JSON; whole numbers are more likely grades."""
    if number.startswith('"'):
        return []
    return ["qrels-json", "run-json"] if number.isdigit() else ["run-json", "qrels-json"]


def _list_names(text: str) -> list[str]:
    import json

    try:
        first = json.JSONDecoder().raw_decode(text, len(text) - len(text[1:].lstrip()))[0]
    except (RecursionError, ValueError):
        return []
    return [f"{kind}-json" for kind in _pair_kinds(set(first))] if isinstance(first, dict) else []


def _pair_kinds(keys: set[str]) -> Iterator[str]:
    """Return the kinds of rows with these columns, likeliest first."""
    if not (keys & _QUERY_ID and keys & _DOC_ID):
        return
    if keys & _GRADE and not keys & _RATER:
        yield "qrels"
    if keys & _SCORE:
        yield "run"
        if not keys & (_GRADE | _RANK):
            yield "qrels"


def _is_clicked(columns: set[str]) -> bool:
    return bool(columns & _CLICKED and columns & _DOC_ID and columns & (_QUERY | _QUERY_ID))


def _is_ranked(keys: set[str]) -> bool:
    """Return whether pairs have ranks but no scores, as pools also do."""
    return bool(keys & _QUERY_ID and keys & _DOC_ID and keys & _RANK) and not keys & _SCORE


def _table_names(text: str) -> list[str]:
    lines = [line for line in text.splitlines()[:MAX_LINES] if line.strip() and not line.startswith("#")]
    if not lines:
        return []
    if not text.endswith("\n") and len(lines) > 1 and len(text) > 1 << 15:
        lines.pop()
    rows = [fields(line) for line in lines]
    if _most(len(row) >= 6 and number(row[4], infinite=True) is not None and _whole(row[3]) for row in rows):
        return ["trec-run"]
    if _most(len(row) == 4 and number(row[3]) is not None and "," not in row[0] for row in rows):
        names = ["trec-qrels", "trec-subtopic-qrels"]
        return names[::-1] if _by_subtopic(rows) else names
    if _ranks(lines):
        return ["msmarco-run"]
    return _header_names(lines[0])


def _ranks(lines: list[str]) -> bool:
    """Return whether all lines have a query, document and rank, separated by TABs."""
    rows = [line.split("\t") for line in lines]
    return _most(len(row) == 3 and row[2].strip().isdigit() for row in rows) and rows[0][-1].strip() in ("0", "1")


def _by_subtopic(rows: list[list[str]]) -> bool:
    """Return whether several documents occur more than once, with a different column 2 each time."""
    subtopics_of: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if len(row) == 4:
            subtopics_of.setdefault((row[0], row[2]), set()).add(row[1])
    return sum(len(subtopics) > 1 for subtopics in subtopics_of.values()) > 1


def _most(fits: Iterable[bool]) -> bool:
    """Return whether at least 80% of the lines match."""
    counted = list(fits)
    return sum(counted) * 5 >= len(counted) * 4


def _header_names(line: str) -> list[str]:
    delimiter = max(",;\t", key=line.count)
    columns = {cell.strip().strip('"').casefold() for cell in line.split(delimiter)}
    names = ["beir-qrels"] if line.strip().casefold() == BEIR_HEADER else []
    if _is_clicked(columns):
        names.append("click-log-csv")
    names.extend(f"{kind}-csv" for kind in _pair_kinds(columns))
    if columns & {"grade", "rating"} and columns & _OWN_DOC_ID:
        names.append("ratings-csv")
    if {"query_id", "doc_id"} <= columns:
        names.append("pairs-csv")
    elif columns & _DOCUMENT_ID and columns & _DOCUMENT_TEXT and not columns & (_QUERY | _QUERY_ID):
        names.append("documents-csv")
    if {"doc_id", "content_sha256"} <= columns:
        names.append("document-hashes-csv")
    if _is_ranked(columns):
        names.append("run-csv")
    if columns & _QUERY and not columns & _OWN_DOC_ID:
        names.extend(["query-log-csv", "queries-csv"] if columns & _LOG else ["queries-csv", "query-log-csv"])
    if not names and line.count("\t") == 1:
        names.append("queries-tsv")
    return names


def _whole(text: str) -> bool:
    return text.lstrip("+-").isdigit()
