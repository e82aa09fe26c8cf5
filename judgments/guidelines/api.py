"""API endpoints for guideline versions, which programs can keep in git, and for proposed examples."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.response import Response

from assay.core.errors import NotAllowed, NotValid
from judgments.guidelines import examples, files, guidelines
from judgments.labels import grade_visibility
from judgments.models import Adjudication, Example, GuidelinesVersion, Pair
from judgments.web import access
from judgments.web.endpoints import InCollection, Rows, call, listed, rows_called
from judgments.web.serializers import Strict, Texts


class VersionBody(serializers.Serializer):
    """One version, without its text."""

    id = serializers.UUIDField(source="uuid")
    number = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="SHA-256 of the Markdown in UTF-8.")
    created_at = serializers.DateTimeField()


class PieceBody(serializers.Serializer):
    """A part of a line."""

    kind = serializers.ChoiceField(choices=("kept", "removed", "added"))
    text = serializers.CharField()


class LineBody(serializers.Serializer):
    """A line of a diff. A changed line has the words of both versions."""

    kind = serializers.ChoiceField(choices=("kept", "removed", "added", "changed"))
    pieces = PieceBody(many=True)


class WholeVersion(VersionBody):
    """One version with its text."""

    markdown = serializers.CharField()
    file = serializers.SerializerMethodField(help_text="The text with front matter, as a file for Git.")
    difference = serializers.SerializerMethodField(
        help_text="Diff against the version in `against`; null if `against` is omitted."
    )

    def get_file(self, version: GuidelinesVersion) -> str:
        return files.as_text(version)

    def get_difference(self, version: GuidelinesVersion) -> list[dict[str, Any]] | None:
        against: GuidelinesVersion | None = self.context.get("against")
        if against is None:
            return None
        return LineBody(guidelines.changes(against.markdown, version.markdown), many=True).data


class NewVersion(Strict):
    """The text of the next version, with or without front matter."""

    markdown = serializers.CharField(trim_whitespace=False, max_length=guidelines.LONGEST + 4_096)
    examples = serializers.ListField(
        child=serializers.UUIDField(), default=list, help_text="Proposed examples that the text contains."
    )
    dry_run = serializers.BooleanField(default=False, help_text="Whether to return the changes without storing them.")


class Imported(serializers.Serializer):
    """The changes of a text, and the stored version."""

    stored = WholeVersion(allow_null=True)
    remarks = Texts(help_text="Points to check before publishing.")
    difference = LineBody(many=True, help_text="Diff against the newest version; empty for the first one.")


@listed("List guideline versions", "Return the versions without their texts, newest first.")
class Versions(Rows):
    queryset = GuidelinesVersion.objects.order_by("-number")
    serializer_class = VersionBody
    ordering = {"number": "number"}
    also = (409,)
    tag = "guidelines"

    def rows(self) -> Any:
        return super().rows().filter(pk__in=examples.readable(self.user, self.collection).values("pk"))

    @call(
        "Create a guideline version",
        body=NewVersion,
        responses={201: Imported, 200: Imported},
        example=("A text", {"markdown": "# How to grade\n...", "dry_run": True}),
    )
    def post(self, body: dict[str, Any]) -> Response:
        """The status is 201 if the version is stored, 200 for a dry run, and 400 if the text equals the newest
        version."""
        read, newest = files.parse(body["markdown"]), guidelines.latest(self.collection)
        examples.check_readable(self.user, newest)
        remarks = read.remarks(self.collection)
        lines = guidelines.changes(newest.markdown, read.markdown) if newest else []
        if newest is not None and newest.sha256 == GuidelinesVersion.hash_of(read.markdown):
            raise NotValid(f"This text is identical to version {newest.number}. Change it first.", "markdown")
        stored = None
        if not body["dry_run"]:
            pending = examples.pending_examples(self.collection)
            waiting = rows_called(pending, body["examples"], "examples", "pending example")
            stored = guidelines.add_version(self.collection, actor=self.user, markdown=read.markdown, written=waiting)
        changes = {"stored": stored, "remarks": remarks, "difference": lines}
        return self.respond(Imported, changes, 201 if stored else 200)


class OneVersion(InCollection):
    tag = "guidelines"

    @call(
        "Get a guideline version",
        WholeVersion,
        parameters=[OpenApiParameter("against", int, description="Also return the changes since this version.")],
    )
    def get(self) -> Response:
        """Return the version's Markdown, also as a file for Git."""
        against = self.request.query_params.get("against")
        context = {"against": self._version(against) if against is not None else None}
        return Response(WholeVersion(self._version(str(self.kwargs["number"])), context=context).data)

    def _version(self, number: str) -> GuidelinesVersion:
        known = number.isascii() and number.isdigit() and len(number) < 7
        rows = examples.readable(self.user, self.collection).filter(number=int(number) if known else None)
        return access.existing(rows, f"The guidelines have no version {number[:20]}.")


class ExampleBody(serializers.Serializer):
    """A resolved pair that serves as an example for raters."""

    id = serializers.UUIDField(source="uuid")
    query = serializers.CharField(source="query_text")
    document = serializers.CharField(source="document_text")
    grade = serializers.IntegerField()
    label = serializers.CharField()
    reason = serializers.CharField()
    version = serializers.IntegerField(
        source="version.number",
        allow_null=True,
        default=None,
        help_text="The version that contains the example; null if there is none yet.",
    )


class NewExample(Strict):
    """The resolved pair to propose as an example."""

    pair = serializers.UUIDField()


@listed("List examples", "Return proposed examples and those that are part of a version.")
class Examples(Rows):
    reads = access.LEADS
    queryset = Example.objects.select_related("version").order_by("pk")
    serializer_class = ExampleBody
    ordering = {"created_at": "created_at", "grade": "grade"}
    also = (409,)
    tag = "guidelines"

    def rows(self) -> Any:
        rows = super().rows()
        # Without the examples whose pairs the caller may still grade.
        shown = [one.pk for one in examples.visible_examples(self.user, self.collection)]
        readable = examples.readable(self.user, self.collection)
        return rows.filter(Q(version__in=readable) | Q(pk__in=shown))

    @call("Propose a resolved pair as an example", ExampleBody, NewExample, status=201)
    def post(self, body: dict[str, Any]) -> Example:
        """The form for the next version includes this example. The status is 403 for a pair that you may still
        grade."""
        # Refuse a caller who may not see the resolution, before a response reveals that it exists.
        pair = Pair.objects.filter(round__collection=self.collection, uuid=body["pair"])
        if any(not grade_visibility.grades_visible(self.user, one) for one in pair.select_related("round__collection")):
            raise NotAllowed(
                "You may still grade this pair yourself. Propose it after you have graded it, or after the round is "
                "closed."
            )
        rows = Adjudication.objects.current().filter(pair__round__collection=self.collection)
        settled = rows.select_related("pair__round__collection", "pair__query", "pair__document")
        row = settled.filter(pair__uuid=body["pair"]).first()
        if row is None:
            raise NotValid(f"This collection has no resolved pair {body['pair']}.", "pair")
        return examples.propose(row, actor=self.user)


class OneExample(InCollection):
    also = (409,)
    tag = "guidelines"

    @call("Withdraw a proposed example")
    def delete(self) -> None:
        """The status is 409 if a version contains the example, because versions never change."""
        rows = Example.objects.filter(collection=self.collection, uuid=self.kwargs["uuid"])
        examples.remove(access.existing(rows, "This example does not exist."), actor=self.user)
