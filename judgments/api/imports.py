"""API endpoints to upload documents, queries, runs, logs and labels, as a file or as a list.

Both forms are processed like an upload on the pages: first read and compared with the collection, then stored
completely or not at all.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from typing import IO, Any, NamedTuple

from django.conf import settings
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import ingestion
from judgments.api.endpoint import Json, Rows
from judgments.api.errors import shape
from judgments.api.import_bodies import MOST_PROBLEMS, FileSent, Problem, Reading
from judgments.api.jobs import started
from judgments.api.posted import PostedFile
from judgments.core.errors import AssayError, NotValid, TooLarge, UnreadableInput
from judgments.import_kinds import KINDS
from judgments.models import ApiToken, Job, Upload


class Given(NamedTuple):
    """What came in, whichever way."""

    file: IO[bytes]
    filename: str
    format: str
    asked: dict[str, Any]


class Imports(Rows):
    """One kind of file: its rows on GET, a file or a list of them on POST."""

    kind = ""
    reading: type[Reading] = Reading
    file_sent: type[FileSent] = FileSent
    parser_classes = [Json, MultiPartParser]
    takes_files = True
    also = (409, 413, 429)

    @property
    def writes(self) -> tuple[str, ...]:  # type: ignore[override]
        return KINDS[self.kind].roles

    def as_file(self, rows: Sequence[Any], asked: dict[str, Any]) -> PostedFile:
        """The posted list as a file of a format of this kind."""
        raise NotImplementedError

    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if isinstance(request.auth, ApiToken):
            size = int(request.META.get("CONTENT_LENGTH") or 0)
            self.held.enter_context(ingestion.coming(request.user, size))
        else:
            ingestion.check_quota(request.user)  # what a session sends is counted before it is read
        given = self._given(request)
        try:
            upload = self._receive(given)
        except UnreadableInput as error:
            raise NotValid(str(error), {"file": str(error)}) from error
        try:
            return self._store(upload, given.asked)
        except UnreadableInput as error:
            ingestion.throw_away(upload, actor=request.user)
            return refused(str(error), upload)
        except AssayError:
            ingestion.throw_away(upload, actor=request.user)
            raise

    def _given(self, request: Request) -> Given:
        beside = request.query_params.dict()
        if isinstance(request.data, list):
            return self._of_list(request.data, self._asked(self.reading, beside))
        sent = dict(request.data.items()) if isinstance(request.data, dict) else {}
        if isinstance(sent.get("rows"), list):
            return self._of_list(sent["rows"], self._asked(self.reading, {**beside, **sent}))
        asked = self._asked(self.file_sent, {**beside, **sent})
        file = asked.pop("file")
        if file.size > settings.MAX_UPLOAD_BYTES:
            limit = settings.MAX_UPLOAD_BYTES // (1024 * 1024)
            raise TooLarge(f"{file.name} is too large; this server takes {limit:,} MB. Split the file.")
        return Given(file, file.name, asked.pop("format", ""), asked)

    def _asked(self, serializer: type[Reading], given: dict[str, Any]) -> dict[str, Any]:
        checked = serializer(data=given)
        checked.is_valid(raise_exception=True)
        return dict(checked.validated_data)

    def _of_list(self, rows: Sequence[Any], asked: dict[str, Any]) -> Given:
        """A file whose name is different for different content, since sources are called after their files."""
        format, content = self.as_file(rows, asked)
        filename = f"posted-{self.kind}-{hashlib.sha256(content).hexdigest()[:8]}"
        return Given(io.BytesIO(content), filename, format, asked)

    def _receive(self, given: Given) -> Upload:
        options = {name: value for name, value in given.asked.items() if value is not None}
        return ingestion.take_in(
            self.collection,
            kind=self.kind,
            file=given.file,
            filename=given.filename,
            actor=self.request.user,
            format=given.format,
            options={name: value for name, value in options.items() if name not in self._not_for_the_reader},
        )

    @property
    def _not_for_the_reader(self) -> set[str]:
        return {"name", "description", "accept_errors", *KINDS[self.kind].asks}

    def _store(self, upload: Upload, asked: dict[str, Any]) -> Response:
        options = {name: asked[name] for name in KINDS[self.kind].asks if asked.get(name)}
        accept, actor = asked["accept_errors"], self.request.user
        store = ingestion.store_soon if upload.report else ingestion.store_later
        stored = store(upload, actor=actor, accept_errors=accept, options=options)
        if isinstance(stored, Job):
            return started(stored)
        return Response({**stored, "report": report_of(upload)}, status=201)


def refused(message: str, upload: Upload) -> Response:
    """The 400 of a file with errors that nobody accepted: nothing was stored."""
    body = shape(400, message, {"file": message})
    body["error"]["report"] = report_of(upload)
    return Response(body, status=400)


def report_of(upload: Upload) -> dict[str, Any]:
    """The report in the shape of the API."""
    report = upload.report
    names = list(Problem().fields)
    return {
        "file": upload.filename,
        "format": upload.format,
        "sha256": upload.sha256,
        "bins": report["bins"],
        "errors": report["error_count"],
        "warnings": report["warning_count"],
        "problems": [{name: problem[name] for name in names} for problem in report["problems"][:MOST_PROBLEMS]],
    }
