"""Import kinds: the kinds of file that a collection accepts, and the findings for their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgments.core.family import Family
from judgments.core.report import Report, Severity, severity_of
from judgments.models import Collection, Upload, User


@dataclass(frozen=True)
class Finding:
    """What the collection has to say about a row of the file. The code tells an error, which keeps the row out."""

    line: int | None
    code: str
    raw: str
    what: str
    done: str
    fix: str

    @property
    def severity(self) -> Severity:
        """A code that begins with W is a warning."""
        return severity_of(self.code)


@dataclass(frozen=True)
class Checked:
    """The rows that can be stored, what the collection says about the others, and figures for the report.

    ``kept`` is the path and the format of a file that was made to stay in storage in the place of the one that came;
    ``hashes`` are those of what is in it, where a kind puts them on record.
    """

    rows: Sequence[Any]
    findings: Sequence[Finding] = ()
    figures: dict[str, Any] = field(default_factory=dict)
    kept: tuple[str, str] | None = None
    hashes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportKind:
    """A kind of file that a collection takes.

    Attributes
    ----------
    name, title : str
        ``documents``; ``Documents``.
    format_kind : str
        The kind of ``judgments.formats`` that can be read for it.
    default_format : str
        Taken when neither the user nor the content says otherwise.
    check : callable
        ``check(collection, rows, upload) -> Checked``; reads the database, writes nothing.
    store : callable
        ``store(collection, checked, upload, options, actor) -> dict``: writes, inside a transaction; answers counts.
    roles : tuple of str
        Who may do it.
    columns : tuple of str
        What the preview of the first rows shows.
    asks : tuple of str
        What the user is asked when the file is stored: ``name``, ``description``.
    read : callable, optional
        ``read(stream, upload) -> (rows, report)``, for files too large to be held as rows; else the format's reader.
    watched : bool
        Whether ``read`` takes ``progress=`` too, which it calls with the bytes that were read so far.
    prepare : callable, optional
        ``prepare(checked, upload, *, progress) -> Checked``: what takes long and is done before the transaction begins.
    questions : callable, optional
        ``questions(upload) -> {name: form field}``: what else the user is asked when this file is stored; named in
        ``asks``.
    names : callable, optional
        ``names(collection, filenames) -> names``: what several files that are sent together are called; without it one
        file is sent at a time.
    personal : bool
        Whether such files may name persons: one that nobody stores is gone after a day.
    quiet : frozenset of str
        Figures of the preview that say something only where they are not 0; the page leaves them out else.
    """

    name: str
    title: str
    format_kind: str
    default_format: str
    check: Callable[[Collection, Any, Upload], Checked]
    store: Callable[[Collection, Checked, Upload, dict[str, Any], User], dict[str, Any]]
    roles: tuple[str, ...]
    columns: tuple[str, ...]
    asks: tuple[str, ...] = ()
    read: Callable[..., tuple[Any, Report]] | None = None
    watched: bool = False
    prepare: Callable[..., Checked] | None = None
    questions: Callable[[Upload], dict[str, Any]] = lambda upload: {}
    names: Callable[[Collection, Sequence[str]], Sequence[str]] | None = None
    personal: bool = False
    quiet: frozenset[str] = frozenset()


# Apps above this one register theirs (runs, query logs) in their AppConfig.
KINDS: Family[ImportKind] = Family(
    "kind of import",
    {
        "documents": "judgments.documents:DOCUMENTS",
        "queries": "judgments.queries:QUERIES",
        "qrels": "judgments.label_sources:LABELS",
        "judgments": "judgments.imported_rounds:JUDGMENTS",
    },
)
