"""API endpoints for many resolutions: a list of them, their undo, and all one-step conflicts by the label rule."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from assay.aggregation import RULES
from assay.core.errors import AssayError, NotValid, TooLarge
from judgments.agreement import bulk_resolutions, resolutions
from judgments.agreement.api import visible_pair
from judgments.models import Adjudication
from judgments.rating.api import check_same_user
from judgments.web.endpoints import ErrorBody, InRound, call
from judgments.web.error_responses import status_and_body
from judgments.web.serializers import Strict

MOST_RESOLUTIONS = 100


class ResolutionSent(Strict):
    """One resolution of a list."""

    client_id = serializers.UUIDField(
        help_text="A UUID that the client creates for each resolution; a repeated request counts once."
    )
    pair = serializers.UUIDField()
    grade = serializers.IntegerField()
    reason = serializers.CharField(max_length=resolutions.LONGEST_REASON, allow_blank=True, default="")
    cause = serializers.ChoiceField(Adjudication.Cause.choices, allow_blank=True, default="")
    replace = serializers.BooleanField(
        default=False, help_text="Whether to supersede a resolution that the pair already has; otherwise status 409."
    )


class ResolutionResult(serializers.Serializer):
    """The result for one resolution of a list."""

    client_id = serializers.CharField(allow_null=True)
    status = serializers.IntegerField(help_text="201 if resolved, else 400, 403, 404 or 409.")
    error = ErrorBody(allow_null=True, help_text="The error; null if the pair was resolved.")


class ResolutionResults(serializers.Serializer):
    """One result per resolution, in the order they were sent."""

    results = ResolutionResult(many=True)


class ResolutionUndone(serializers.Serializer):
    """A resolution that was undone."""

    client_id = serializers.UUIDField()
    pair = serializers.UUIDField()


class RulePreview(serializers.Serializer):
    """What resolving all one-step conflicts by a label rule would do."""

    rule = serializers.CharField()
    count = serializers.IntegerField(help_text="Conflicts that the rule would resolve.")
    by_grade = serializers.DictField(child=serializers.IntegerField(), help_text="The number of conflicts by label.")
    undecided = serializers.IntegerField(help_text="Conflicts without a label under the rule; they stay open.")
    remaining = serializers.IntegerField(help_text="Conflicts beyond the limit of one act.")
    previewed_at = serializers.DateTimeField(help_text="Send it with the POST, which then resolves only these pairs.")


class RuleSent(Strict):
    """A resolution of all one-step conflicts."""

    rule = serializers.ChoiceField([*RULES], default="median")
    reason = serializers.CharField(
        max_length=resolutions.LONGEST_REASON,
        allow_blank=True,
        default="",
        help_text="The reason that raters read; by default it names the rule.",
    )
    previewed_at = serializers.DateTimeField(
        required=False, help_text="The time of the preview. Pairs resolved or changed since then are skipped."
    )
    client_id = serializers.UUIDField(
        required=False, help_text="A UUID that the client creates; a repeated request has no effect."
    )


class RuleAct(serializers.Serializer):
    """An act that resolved one-step conflicts by a label rule."""

    id = serializers.UUIDField(source="row.uuid")
    rule = serializers.CharField(source="row.detail.rule")
    reason = serializers.CharField(source="row.detail.reason")
    resolved_pairs = serializers.IntegerField(source="resolved")
    skipped_resolved = serializers.IntegerField(help_text="Pairs that a lead resolved after the preview.")
    skipped_changed = serializers.IntegerField(help_text="Pairs whose judgments changed after the preview.")
    undecided = serializers.IntegerField(help_text="Pairs without a label under the rule; they are still open.")
    remaining = serializers.IntegerField(help_text="Pairs beyond the limit of one act.")


class RuleActUndone(serializers.Serializer):
    """The undo of an act."""

    id = serializers.UUIDField(source="detail.act")
    undone = serializers.IntegerField(source="detail.undone")
    kept = serializers.IntegerField(
        source="detail.kept", help_text="Pairs that a lead has resolved again since; those resolutions stay."
    )


class Resolutions(InRound):
    also = (413,)
    tag = "rounds"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        check_same_user(request)

    @call("Resolve several pairs", request=ResolutionSent(many=True), responses={200: ResolutionResults})
    def post(self) -> Response:
        """Each resolution has its own result; a refused one does not affect the others."""
        if not isinstance(self.request.data, list):
            raise NotValid("Send a list of resolutions.")
        if len(self.request.data) > MOST_RESOLUTIONS:
            raise TooLarge(f"A list may have at most {MOST_RESOLUTIONS} resolutions. Send the list in parts.")
        return Response({"results": [self._result(item) for item in self.request.data]})

    def _result(self, item: Any) -> dict[str, Any]:
        client_id = item.get("client_id") if isinstance(item, dict) else None
        result = {"client_id": str(client_id) if isinstance(client_id, str | int) else None}
        try:
            checked = ResolutionSent(data=item)
            checked.is_valid(raise_exception=True)
            body = dict(checked.validated_data)
            with transaction.atomic():
                pair = visible_pair(self.request.user, self.round, body.pop("pair"))
                resolutions.resolve(pair, actor=self.request.user, **body)
        except (AssayError, ValidationError) as error:
            status, shape = status_and_body(error)
            return {**result, "status": status, "error": shape["error"]}
        return {**result, "status": 201, "error": None}


class UndoResolution(InRound):
    also = (409,)
    tag = "rounds"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        check_same_user(request)

    @call("Undo a resolution", ResolutionUndone)
    def post(self) -> Any:
        """The pair is an open conflict again. A repeated request has no effect. The status is 409 if the pair has a
        newer resolution or the labels are frozen."""
        undone = resolutions.undo(self.round, self.kwargs["client_id"], actor=self.user)
        return {"client_id": self.kwargs["client_id"], "pair": undone.pair.uuid}


class ByRule(InRound):
    reads = InRound.writes
    also = (409,)
    tag = "rounds"

    @call(
        "Preview resolving all one-step conflicts",
        RulePreview,
        parameters=[OpenApiParameter("rule", str, enum=[*RULES], description="The label rule; by default `median`.")],
    )
    def get(self) -> Any:
        """Return what the POST would do now. Pairs that you may still grade are left out."""
        rule = self.request.query_params.get("rule", "median")
        return bulk_resolutions.preview(self.round, rule=rule, viewer=self.user)

    @call("Resolve all one-step conflicts", RuleAct, RuleSent, status=201)
    def post(self, body: dict[str, Any]) -> Any:
        """Resolve them by the label rule as one act. The status is 409 if no such conflict is left."""
        return bulk_resolutions.resolve_by_rule(self.round, actor=self.user, **body)


class UndoByRule(InRound):
    also = (409,)
    tag = "rounds"

    @call("Undo resolving all one-step conflicts", RuleActUndone)
    def post(self) -> Any:
        """The pairs are open conflicts again, except those that a lead has resolved again since. The status is 409 if
        the labels are frozen."""
        return bulk_resolutions.undo(self.round, self.kwargs["act"], actor=self.user)
