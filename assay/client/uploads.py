"""Uploads in chunks: begin or continue, send the rest, and import the file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from assay.client.connection import Connection, Passing, ServerFault
from assay.core.errors import NotValid, UnreadableInput

CONFLICT = 409


@dataclass(frozen=True)
class Outcome:
    """What the server stored: id, name and rows, and whether it had the file already; or the job that stores it."""

    stored: dict[str, Any] = field(default_factory=dict)
    job: str = ""
    known: bool = False


class Refused(NotValid):
    """A file that the server cannot use; ``report`` is the server's import report, or None."""

    def __init__(self, message: str, report: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.report = report


def send(
    connection: Connection,
    uploads: str,
    target: str,
    kind: str,
    path: Path,
    options: Mapping[str, Any],
    progress: Callable[[int], None],
) -> Outcome:
    """Send a file to the address of its kind, unless the server has it."""
    if not path.is_file():
        raise UnreadableInput(str(path), None, "the file does not exist", "check the path", "F00")
    with path.open("rb") as file:
        digest, size = hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
        if not size:
            raise UnreadableInput(str(path), None, "the file is empty", "expected at least one row", "F01")
        begin = {"kind": kind, "filename": path.name, "bytes": size, "sha256": digest}
        # A second round begins if the server discarded the upload, or stored the file while the response was lost.
        for last in (False, True):
            session = connection.json("POST", uploads, begin)
            if session["stored"] is not None:
                progress(size)
                return Outcome(stored=session["stored"], known=True)
            try:
                _send_chunks(connection, f"{uploads}{session['id']}/", file, session, progress)
                return _imported(connection, uploads, target, session["id"], options)
            except ServerFault as fault:
                if last or fault.status not in (404, CONFLICT):
                    raise
    raise AssertionError("the second round returns or raises")


def _send_chunks(
    connection: Connection, session_path: str, file: IO[bytes], session: dict[str, Any], progress: Callable[[int], None]
) -> None:
    """Send the bytes that are missing; after a failure, ask the server where to continue."""

    def attempt() -> None:
        if session.pop("uncertain", False):
            session.update(connection.json("GET", session_path))
        offset = session["offset"]
        file.seek(offset)
        chunk = file.read(session["chunk_bytes"])
        if not chunk:
            raise NotValid("the file became shorter while it was sent; send it again")
        headers = {"Upload-Offset": str(offset), "Content-Type": "application/octet-stream"}
        try:
            session.update(connection.once("PATCH", session_path, chunk, headers))
        except ServerFault as fault:
            session["uncertain"] = True
            if fault.status == CONFLICT:
                raise Passing(str(fault), fault.status, fault.code) from None
            raise

    progress(session["offset"])
    while session["offset"] < session["bytes"]:
        connection.persistently(attempt)
        progress(session["offset"])


def _imported(connection: Connection, uploads: str, target: str, session: str, options: Mapping[str, Any]) -> Outcome:
    try:
        body = connection.json("POST", target, {"upload": session, **options})
    except ServerFault as fault:
        if fault.status != 400:
            raise
        report = fault.body["error"].get("report") if isinstance(fault.body, dict) else None
        # Corrected files are other files: without this, the refused one would count toward the quota for a day.
        connection.json("DELETE", f"{uploads}{session}/")
        raise Refused(str(fault), report) from None
    return Outcome(job=body["job"]) if "job" in body else Outcome(stored=body, known=bool(body.get("already")))
