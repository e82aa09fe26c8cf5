"""API endpoints to upload documents, queries, runs, logs and labels, as a file or as a list.

Both forms are processed like an upload on the pages: they are read and compared with the collection, then stored
completely or not at all.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from typing import IO, Any, NamedTuple
from uuid import UUID

from django.conf import settings
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import AssayError, NotValid, TooLarge, UnreadableInput
from judgments.hooks import IMPORT_KINDS
from judgments.imports import ingestion
from judgments.imports.api.serializers import MOST_PROBLEMS, FileSent, Problem, Reading
from judgments.imports.posted_lists import PostedFile
from judgments.jobs.api import started
from judgments.models import ApiToken, Job, Upload
from judgments.web.api_errors import shape
from judgments.web.endpoints import Json, Rows
from judgments.web.upload_quota import check_quota, coming


class Given(NamedTuple):
    """An import, as a file or as a list."""

    file: IO[bytes]
    filename: str
    format: str
    options: dict[str, Any]


class Imports(Rows):
    """One kind of file: GET lists its rows, POST takes a file or a list."""

    kind = ""
    reading: type[Reading] = Reading
    file_serializer: type[FileSent] = FileSent
    parser_classes = [Json, MultiPartParser]
    takes_files = True
    also = (409, 413, 429)

    @property
    def writes(self) -> tuple[str, ...]:  # type: ignore[override]
        return IMPORT_KINDS[self.kind].roles

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        """Convert the posted list to a file of a format of this kind."""
        raise NotImplementedError

    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if isinstance(request.auth, ApiToken):
            size = int(request.META.get("CONTENT_LENGTH") or 0)
            self.held.enter_context(coming(request.user, size))
        else:
            check_quota(request.user)  # the upload quota is checked before the file is read
        given = self._given(request)
        try:
            upload = self._receive(given)
        except UnreadableInput as error:
            raise NotValid(str(error), {"file": str(error)}) from error
        try:
            return self._store(upload, given.options)
        except UnreadableInput as error:
            ingestion.throw_away(upload, actor=request.user)
            return refused(str(error), upload)
        except AssayError:
            ingestion.throw_away(upload, actor=request.user)
            raise

    def _given(self, request: Request) -> Given:
        beside = request.query_params.dict()
        if isinstance(request.data, list):
            return self._of_list(request.data, self._validate(self.reading, beside))
        body = dict(request.data.items()) if isinstance(request.data, dict) else {}
        if isinstance(body.get("rows"), list):
            return self._of_list(body["rows"], self._validate(self.reading, {**beside, **body}))
        options = self._validate(self.file_serializer, {**beside, **body})
        file = options.pop("file")
        if file.size > settings.MAX_UPLOAD_BYTES:
            limit = settings.MAX_UPLOAD_BYTES // (1024 * 1024)
            raise TooLarge(f"{file.name} is larger than {limit:,} MB, the limit of this server. Split the file.")
        return Given(file, file.name, options.pop("format", ""), options)

    def _validate(self, serializer: type[Reading], given: dict[str, Any]) -> dict[str, Any]:
        checked = serializer(data=given)
        checked.is_valid(raise_exception=True)
        return dict(checked.validated_data)

    def _of_list(self, rows: Sequence[Any], options: dict[str, Any]) -> Given:
        """A posted list as a file. Its name depends on its content, because sources are named after their files."""
        format, content = self.as_file(rows, options)
        filename = f"posted-{self.kind}-{hashlib.sha256(content).hexdigest()[:8]}"
        return Given(io.BytesIO(content), filename, format, options)

    def _receive(self, given: Given) -> Upload:
        options = {name: value for name, value in given.options.items() if value is not None}
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
        return {"name", "description", "accept_errors", *IMPORT_KINDS[self.kind].asks}

    def _store(self, upload: Upload, body: dict[str, Any]) -> Response:
        # As a page sends them, because a job stores a large file and its parameters are JSON.
        options = {
            name: str(value) if isinstance(value := body[name], UUID) else value
            for name in IMPORT_KINDS[self.kind].asks
            if body.get(name)
        }
        accept, actor = body["accept_errors"], self.request.user
        store = ingestion.store_soon if upload.report else ingestion.store_later
        stored = store(upload, actor=actor, accept_errors=accept, options=options)
        if isinstance(stored, Job):
            return started(stored)
        return Response({**stored, "report": report_of(upload)}, status=201)


def refused(message: str, upload: Upload) -> Response:
    """Return status 400 for a file with errors that were not accepted; nothing is stored."""
    body = shape(400, message, {"file": message})
    body["error"]["report"] = report_of(upload)
    return Response(body, status=400)


def report_of(upload: Upload) -> dict[str, Any]:
    """Convert the report to its API format."""
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
