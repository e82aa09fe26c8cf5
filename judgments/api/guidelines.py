"""API endpoints for guideline versions, which programs can keep in git, and for waiting examples."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.db.models import Q
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access, examples, guideline_files, guidelines, untold
from judgments.api.endpoint import InCollection, Rows, rows_called
from judgments.api.strict import Strict
from judgments.core import text_difference
from judgments.core.errors import NotAllowed, NotFound, NotValid
from judgments.models import Adjudication, Example, GuidelinesVersion, Pair


class VersionBody(serializers.Serializer):
    """One version, without its text."""

    id = serializers.UUIDField(source="uuid")
    number = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="Of the Markdown in UTF-8.")
    created_at = serializers.DateTimeField()


class PieceBody(serializers.Serializer):
    """A part of a line."""

    kind = serializers.ChoiceField(choices=("kept", "removed", "added"))
    text = serializers.CharField()


class LineBody(serializers.Serializer):
    """A line of a difference; a changed one has the words of both texts."""

    kind = serializers.ChoiceField(choices=("kept", "removed", "added", "changed"))
    pieces = PieceBody(many=True)


class WholeVersion(VersionBody):
    """One version with its text."""

    markdown = serializers.CharField()
    file = serializers.SerializerMethodField(help_text="The text as a file for git, with front matter.")
    difference = serializers.SerializerMethodField(help_text="To the version that `against` names; null without it.")

    def get_file(self, version: GuidelinesVersion) -> str:
        return guideline_files.as_text(version)

    def get_difference(self, version: GuidelinesVersion) -> list[dict[str, Any]] | None:
        against: GuidelinesVersion | None = self.context.get("against")
        if against is None:
            return None
        return LineBody(text_difference.changes(against.markdown, version.markdown), many=True).data


class NewVersion(Strict):
    """The text of the next version, with or without front matter."""

    markdown = serializers.CharField(trim_whitespace=False, max_length=guidelines.LONGEST + 4_096)
    examples = serializers.ListField(
        child=serializers.UUIDField(), default=list, help_text="Waiting examples that the text holds."
    )
    dry_run = serializers.BooleanField(default=False, help_text="Say what would change, and store nothing.")


class Imported(serializers.Serializer):
    """What a text changes, and what it became."""

    stored = WholeVersion(allow_null=True)
    remarks = serializers.ListField(child=serializers.CharField(), help_text="What somebody should know before.")
    difference = LineBody(many=True, help_text="To the newest version; empty for the first one.")


class Versions(Rows):
    """The versions of a collection's guidelines."""

    queryset = GuidelinesVersion.objects.order_by("-number")
    serializer_class = VersionBody
    also = (409,)
    tag = "guidelines"

    def get_queryset(self) -> Any:
        rows = super().get_queryset()
        if getattr(self, "swagger_fake_view", False):
            return rows
        return rows.filter(pk__in=examples.readable(self.request.user, self.collection).values("pk"))

    @extend_schema(summary="The versions of the guidelines")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The newest first, without their texts."""
        return self.list(request)

    @extend_schema(
        summary="Write the next version",
        request=NewVersion,
        responses={201: Imported, 200: Imported},
        examples=[OpenApiExample("A text", {"markdown": "# How to grade\n...", "dry_run": True}, request_only=True)],
    )
    def post(self, request: Request, slug: str) -> Response:
        """201 when it is stored, 200 for a dry run; 400 for the text that the newest version has already.

        Front matter as the `file` of a version has it is read and left out: it tells whether the text was taken from an
        older version than the newest, which is a remark and no refusal.
        """
        said = self.sent(NewVersion)
        read, newest = guideline_files.parse(said["markdown"]), guidelines.latest(self.collection)
        examples.check_readable(request.user, newest)
        remarks = read.remarks(self.collection)
        lines = text_difference.changes(newest.markdown, read.markdown) if newest else []
        if newest is not None and newest.sha256 == GuidelinesVersion.hash_of(read.markdown):
            same = f"This is word for word version {newest.number}. Change it first."
            raise NotValid(same, {"markdown": same})
        stored = None
        if not said["dry_run"]:
            waiting = rows_called(examples.waiting(self.collection), said["examples"], "examples", "waiting example")
            stored = guidelines.add_version(
                self.collection, actor=request.user, markdown=read.markdown, written=waiting
            )
        body = {"stored": stored, "remarks": remarks, "difference": lines}
        return self.told(Imported, body, 201 if stored else 200)


class OneVersion(InCollection):
    """One version of the guidelines."""

    serializer_class = WholeVersion
    tag = "guidelines"

    @extend_schema(
        summary="One version",
        parameters=[OpenApiParameter("against", int, description="Tell what changed since this version.")],
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Its Markdown, and the same as a file for git."""
        against = request.query_params.get("against")
        context = {"against": self._version(against) if against is not None else None}
        return Response(WholeVersion(self._version(str(number)), context=context).data)

    def _version(self, number: str) -> GuidelinesVersion:
        known = number.isascii() and number.isdigit() and len(number) < 7
        readable = examples.readable(self.request.user, self.collection)
        row = readable.filter(number=int(number)).first() if known else None
        if row is None:
            raise NotFound(f"There is no version {number[:20]} of these guidelines.")
        return row


class ExampleBody(serializers.Serializer):
    """A settled pair that raters are to read."""

    id = serializers.UUIDField(source="uuid")
    query = serializers.CharField(source="query_text")
    document = serializers.CharField(source="document_text")
    grade = serializers.IntegerField()
    label = serializers.CharField()
    reason = serializers.CharField()
    version = serializers.IntegerField(source="version.number", default=None, help_text="Null while it waits.")


class NewExample(Strict):
    """Which settled pair."""

    pair = serializers.UUIDField()


class Examples(Rows):
    """The examples of a collection's guidelines."""

    reads = access.LEADS
    queryset = Example.objects.select_related("version").order_by("pk")
    serializer_class = ExampleBody
    also = (409,)
    tag = "guidelines"

    def get_queryset(self) -> Any:
        rows = super().get_queryset()
        if getattr(self, "swagger_fake_view", False):
            return rows
        # Not those of pairs that the caller may still have to grade.
        shown = [one.pk for one in examples.shown_to(self.request.user, self.collection)]
        readable = examples.readable(self.request.user, self.collection)
        return rows.filter(Q(version__in=readable) | Q(pk__in=shown))

    @extend_schema(summary="The examples")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Those that wait for the next version, and those that a version holds."""
        return self.list(request)

    @extend_schema(summary="Make a settled pair an example", request=NewExample, responses={201: ExampleBody})
    def post(self, request: Request, slug: str) -> Response:
        """The form of the next version begins with it written in; 403 for a pair that you may still grade."""
        uuid = self.sent(NewExample)["pair"]
        self._check_told(uuid)
        rows = Adjudication.objects.filter(superseded_by__isnull=True, pair__round__collection=self.collection)
        settled = rows.select_related("pair__round__collection", "pair__query", "pair__document")
        row = settled.filter(pair__uuid=uuid).first()
        if row is None:
            said = f"No pair {uuid} of this collection was settled."
            raise NotValid(said, {"pair": said})
        return self.told(ExampleBody, examples.propose(row, actor=request.user), 201)

    def _check_told(self, uuid: uuid_module.UUID) -> None:
        """That the caller may know how the pair was settled; asked first, since what follows tells whether it was."""
        pair = Pair.objects.filter(round__collection=self.collection, uuid=uuid).select_related("round__collection")
        if any(not untold.may_be_told(self.request.user, one) for one in pair):
            raise NotAllowed(
                "You may still grade this pair yourself. Propose it once you have, or once the round is closed."
            )


class OneExample(InCollection):
    """One example."""

    serializer_class = ExampleBody
    also = (409,)
    tag = "guidelines"

    @extend_schema(summary="Take a waiting example back", responses={204: None})
    def delete(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """409 for one that a version holds: versions never change."""
        row = Example.objects.filter(collection=self.collection, uuid=uuid).first()
        if row is None:
            raise NotFound("There is no such example.")
        examples.remove(row, actor=request.user)
        return Response(status=204)
