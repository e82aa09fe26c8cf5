"""API of upload sessions: send a large file in chunks, and continue an interrupted upload.

A session only receives bytes. A POST to the address of the kind, such as `runs/`, with the id of the upload in place of
a file imports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotValid, TooLarge
from judgments.hooks import IMPORT_KINDS
from judgments.imports import upload_sessions
from judgments.models import UploadSession
from judgments.web import access
from judgments.web.endpoints import InCollection, Json, call
from judgments.web.serializers import Strict

LIMIT = upload_sessions.MOST_CHUNK_BYTES


class UploadBegin(Strict):
    """A file that will be sent in chunks."""

    kind = serializers.CharField(help_text="The kind of the file: the address that imports it, such as `runs`.")
    filename = serializers.CharField(max_length=255)
    bytes = serializers.IntegerField(min_value=1)
    sha256 = serializers.CharField(max_length=64, help_text="SHA-256 of the file as 64 hexadecimal digits.")

    def validate_kind(self, value: str) -> str:
        if value not in IMPORT_KINDS:
            raise serializers.ValidationError(f"Unknown kind {value!r}. Known kinds: {', '.join(IMPORT_KINDS)}.")
        return value


class UploadBody(serializers.Serializer):
    """An upload in chunks."""

    id = serializers.UUIDField(source="uuid", allow_null=True, help_text="Null if the file is already stored.")
    kind = serializers.CharField()
    filename = serializers.CharField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    offset = serializers.IntegerField(help_text="The number of bytes that arrived: where the next chunk starts.")
    state = serializers.ChoiceField(choices=[*UploadSession.State.values, "stored"])
    chunk_bytes = serializers.SerializerMethodField(help_text="The size of chunks that the server asks for.")
    stored = serializers.DictField(
        default=None,
        allow_null=True,
        help_text="The id and name of what the collection already stores of exactly this file.",
    )

    def get_chunk_bytes(self, row: Any) -> int:
        return upload_sessions.CHUNK_BYTES


class Chunk(BaseParser):
    """Parser of a chunk, up to the limit."""

    media_type = "application/octet-stream"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> bytes:
        return stream.read(LIMIT + 1)


class Uploads(InCollection):
    writes = access.STAFF
    also = (413, 429)
    tag = "uploads"

    @call(
        "Begin an upload in chunks",
        body=UploadBegin,
        responses={201: UploadBody, 200: UploadBody},
        example=("A run", {"kind": "runs", "filename": "bm25.run", "bytes": 1, "sha256": "<hash>"}),
    )
    def post(self, begin: dict[str, Any]) -> Response:
        """Return status 200 with your unfinished upload of this file, or with what is already stored of this file."""
        kind = IMPORT_KINDS[begin["kind"]]
        self.collection = access.collection_for(self.user, self.kwargs["slug"], kind.roles)
        stored = upload_sessions.existing(kind, self.collection, begin["sha256"])
        if stored is not None:
            known = {**begin, "uuid": None, "offset": begin["bytes"], "state": "stored", "stored": stored}
            return self.respond(UploadBody, known)
        session, new = upload_sessions.begin(
            self.collection,
            kind=begin["kind"],
            filename=begin["filename"],
            size=begin["bytes"],
            sha256=begin["sha256"],
            actor=self.user,
        )
        return self.respond(UploadBody, session, status=201 if new else 200)


class OneUpload(InCollection):
    parser_classes = [Chunk, Json]
    takes_files = True
    writes = access.STAFF
    also = (409, 413, 503)
    tag = "uploads"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.session = upload_sessions.session_for(request.user, self.collection, kwargs["uuid"])

    @call("Get the state of an upload", UploadBody)
    def get(self) -> Any:
        """Return where the next chunk starts."""
        return self.session

    @call(
        "Send a chunk",
        UploadBody,
        request={"application/octet-stream": OpenApiTypes.BINARY},
        parameters=[
            OpenApiParameter("Upload-Offset", int, OpenApiParameter.HEADER, True, description="Where the chunk starts.")
        ],
    )
    def patch(self) -> Any:
        """Send the bytes from `offset` on. Another start gets status 409; read `offset` again and continue there."""
        size = int(self.request._request.META.get("CONTENT_LENGTH") or 0)
        content = self.request.data
        if not isinstance(content, bytes):
            raise NotValid("Send the bytes of the file as application/octet-stream.")
        if len(content) > LIMIT:
            raise TooLarge(f"A chunk may have at most {LIMIT:,} bytes. Send a smaller chunk.")
        if len(content) < size:
            raise NotValid(f"The chunk is incomplete: {len(content):,} of {size:,} bytes arrived. Send it again.")
        offset = self.request.headers.get("Upload-Offset", "")
        if not (offset.isascii() and offset.isdigit() and len(offset) < 16):
            raise NotValid("The header Upload-Offset is missing. Send the position of the chunk's first byte.")
        return upload_sessions.add_chunk(self.session, offset=int(offset), content=content)

    @call("Cancel an upload")
    def delete(self) -> None:
        """Discard what arrived. What was imported stays stored."""
        upload_sessions.discard(self.session)
