"""Import kinds: the kinds of file that a collection accepts, and the issues of their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from assay.core.read_report import Report, Severity, severity_of
from judgments.models import Collection, Upload, User


@dataclass(frozen=True)
class Finding:
    """An issue with a row of the file. A row with an error is not stored."""

    line: int | None
    code: str
    raw: str
    what: str
    done: str
    fix: str

    @property
    def severity(self) -> Severity:
        """Whether the issue is an error; codes of warnings begin with W."""
        return severity_of(self.code)


@dataclass(frozen=True)
class Checked:
    """The rows that can be stored, the issues of the other rows, and counts for the report."""

    rows: Sequence[Any]
    findings: Sequence[Finding] = ()
    figures: dict[str, Any] = field(default_factory=dict)
    stored: tuple[str, str] | None = None
    hashes: tuple[str, ...] = ()
    name: str = ""  # that the file gives to what it contains


def stored_as(rows: QuerySet[Any], sha256: str) -> dict[str, Any] | None:
    """Return the id and name of the row that was stored from the file with this hash."""
    row = rows.filter(sha256=sha256).first()
    return None if row is None else {"id": str(row.uuid), "name": row.name}


@dataclass(frozen=True)
class ImportKind:
    """A kind of file that a collection accepts."""

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
    # Converts the rows in the reading process to one small object; None if `check` needs the rows.
    compact: Callable[[Sequence[Any]], Sequence[Any] | None] = lambda rows: None
    prepare: Callable[..., Checked] | None = None
    questions: Callable[[Upload], dict[str, Any]] = lambda upload: {}
    names: Callable[[Collection, Sequence[str]], Sequence[str]] | None = None
    personal: bool = False
    quiet: frozenset[str] = frozenset()
    file_help: str = "A plain or gzipped file."
    # Returns what the collection stores of the file with this hash, as ``store`` returned it; None if it is unknown.
    existing: Callable[[Collection, str], dict[str, Any] | None] | None = None

    @property
    def noun(self) -> str:
        """The title inside a sentence: ``documents``, ``RAG samples``."""
        return self.title if self.title[:2].isupper() else self.title[:1].lower() + self.title[1:]
