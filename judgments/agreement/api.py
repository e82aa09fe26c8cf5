"""API endpoints for agreement, conflicts and resolutions of a round."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.db import transaction
from drf_spectacular.utils import (
    OpenApiParameter,
    extend_schema,
    extend_schema_field,
    extend_schema_view,
)
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from assay.aggregation import RULES
from assay.core.errors import AssayError, NotAllowed, NotValid, TooLarge
from judgments.agreement import bulk_resolutions, conflicts, resolutions, round_report
from judgments.agreement.agreement_summary import AgreementSummary
from judgments.agreement.conflicts import Effects
from judgments.agreement.resolutions import resolved_pairs_for
from judgments.guidelines import examples
from judgments.labels import grade_visibility
from judgments.models import Adjudication, Pair, Round
from judgments.rating.api import DocumentNamed, QueryNamed, check_same_user
from judgments.rounds import rounds
from judgments.rounds.api import DocumentOfPair, QueryOfPair, RoundBody, serialize_round
from judgments.web import access
from judgments.web.endpoints import ErrorBody, InRound, Listed, call, listed
from judgments.web.error_responses import status_and_body
from judgments.web.serializers import Strict

PARTS = ("query", "tier")


class Agreement(InRound):
    tag = "rounds"

    @call(
        "Get a round's agreement",
        responses={200: dict},
        parameters=[
            OpenApiParameter(
                "by", str, description="`query` or `tier`: also return the agreement within each query or tier."
            )
        ],
    )
    def get(self) -> Response:
        """Return the format of `assay agreement --format json`: coefficients with n, overlap and interval."""
        part = self.request.query_params.get("by", "")
        if part and part not in PARTS:
            raise NotValid("Unknown value of `by`.", {"by": f"Use one of {', '.join(PARTS)}."})
        look = round_report.look(self.round)
        summary = AgreementSummary(self.round, look, self.user)
        body = {
            **summary.agreement,
            "without": summary.without,
            "called_in": summary.called_in,
            "gate": summary.gate.as_json(),
            "newer": look.newer,
            "computed_at": look.computed_at,
        }
        return Response({**body, **_within(part, summary)})


def _within(part: str, summary: AgreementSummary) -> dict[str, Any]:
    if part == "query":
        return {"by_query": summary.by_query}
    return {"by_tier": summary.by_tier} if part == "tier" else {}


class Rejudge(InRound):
    also = (409,)
    tag = "rounds"

    @call("Rejudge the overlap", responses={201: RoundBody})
    def post(self) -> Response:
        """Create a draft round of the pairs with two or more grades, under the newest guidelines, for the same
        raters."""
        return Response(serialize_round(rounds.rejudge_overlap(self.round, actor=self.user)), status=201)


class Settlement(serializers.Serializer):
    """The resolution of a pair by a lead."""

    grade = serializers.IntegerField()
    reason = serializers.CharField()
    settled_by = serializers.CharField(source="resolved_by.username")
    created_at = serializers.DateTimeField()

    def get_attribute(self, pair: Any) -> Any:
        return conflicts.settled_as(pair)


class ConflictBody(serializers.Serializer):
    """A pair with different grades."""

    pair = serializers.UUIDField(source="uuid")
    query = QueryOfPair()
    document = DocumentOfPair()
    grades = serializers.SerializerMethodField(help_text="Grades by rater pseudonym.")
    notes = serializers.SerializerMethodField()
    spread = serializers.IntegerField(help_text="Highest grade minus lowest grade.")
    effect = serializers.SerializerMethodField(
        help_text="The largest change in any run's mean that resolving the pair could cause; null if no run can be "
        "scored."
    )
    settled = Settlement(read_only=True, allow_null=True)

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_grades(self, pair: Any) -> dict[str, int]:
        return conflicts.grades_of(pair)

    @extend_schema_field(serializers.DictField(child=serializers.CharField()))
    def get_notes(self, pair: Any) -> dict[str, str]:
        return conflicts.notes_of(pair)

    def get_effect(self, pair: Any) -> float | None:
        known: Effects | None = self.context.get("effects")
        return known.moves.get(pair.pk) if known else None


class UnrateableBody(serializers.Serializer):
    """A pair that raters could not judge."""

    pair = serializers.UUIDField(source="uuid")
    query = QueryOfPair()
    document = DocumentOfPair()
    reasons = serializers.SerializerMethodField(help_text="Reasons by rater pseudonym.")
    settled = Settlement(read_only=True, allow_null=True)

    @extend_schema_field(serializers.DictField(child=serializers.CharField()))
    def get_reasons(self, pair: Any) -> dict[str, str]:
        return {one.pseudonym: one.reason for one in pair.answers if one.grade is None}


class SettleSent(Strict):
    """The resolved grade, with a reason, a cause, or both."""

    grade = serializers.IntegerField()
    reason = serializers.CharField(max_length=resolutions.LONGEST_REASON, allow_blank=True, default="")
    cause = serializers.ChoiceField(Adjudication.Cause.choices, allow_blank=True, default="")
    example = serializers.BooleanField(
        default=False, help_text="Whether to propose the pair as an example for the next guidelines version."
    )


class Settled(serializers.Serializer):
    """The new resolution."""

    pair = serializers.UUIDField()
    grade = serializers.IntegerField()
    reason = serializers.CharField(help_text="The text of the cause, followed by the reason.")
    settled_by = serializers.CharField()
    created_at = serializers.DateTimeField()


@listed(
    "List conflicts",
    "Return conflicts, largest difference first. Pairs that you may still grade in an open round are left out.",
    OpenApiParameter("steps", int, description="Minimum difference between the grades; 1 by default."),
)
class Conflicts(Listed, InRound):
    """The conflicts of a round."""

    reads = access.LEADS
    queryset = Pair.objects.none()
    serializer_class = ConflictBody
    ordering = {"query": "query__query_id", "document": "document__doc_id", "position": "position"}
    tag = "rounds"

    def rows(self) -> Any:
        return conflicts.with_details(conflicts.in_conflict(self.round, viewer=self.request.user, steps=self._steps()))

    def get_serializer_context(self) -> dict[str, Any]:
        fake = getattr(self, "swagger_fake_view", False)
        visible = not fake and grade_visibility.means_visible(self.request.user, self.round)
        return super().get_serializer_context() | {"effects": conflicts.effects(self.round) if visible else None}

    def _steps(self) -> int:
        text = self.request.query_params.get("steps", "1")
        if not (text.isascii() and text.isdigit() and 1 <= len(text) <= 3 and int(text)):
            raise NotValid("Invalid value of `steps`.", {"steps": "Enter a whole number of at least 1."})
        return int(text)


@listed(
    "List unrateable pairs",
    "Return pairs that two raters, or all of their raters, could not judge. Correct the document or resolve the pair.",
)
class Unrateable(Listed, InRound):
    """The unrateable pairs of a round."""

    reads = access.LEADS
    queryset = Pair.objects.none()
    serializer_class = UnrateableBody
    ordering = {"query": "query__query_id", "document": "document__doc_id", "position": "position"}
    tag = "rounds"

    def rows(self) -> Any:
        return conflicts.with_details(conflicts.unrateable_pairs(self.round, viewer=self.request.user))


def visible_pair(user: Any, round_: Round, uuid: uuid_module.UUID) -> Pair:
    """Return a pair of the round if the lead may see its grades."""
    row = access.pair_for(user, round_, str(uuid))
    if not grade_visibility.grades_visible(user, row):
        raise NotAllowed(
            "You may still grade this pair yourself. Resolve it after you have graded it, or after the round is closed."
        )
    return row


class Resolve(InRound):
    tag = "rounds"

    @call(
        "Resolve a pair",
        Settled,
        status=201,
        request=SettleSent,
        example=("With a reason", {"grade": 1, "reason": "For men, not for women."}),
    )
    def post(self) -> Any:
        """A new resolution supersedes the earlier one. Both remain in the history."""
        row = visible_pair(self.user, self.round, self.kwargs["pair"])
        resolution = self.read_body(SettleSent)
        with transaction.atomic():
            proposed = resolution.pop("example")
            settled = resolutions.resolve(row, actor=self.user, **resolution)
            if proposed:
                examples.propose(settled, actor=self.user)
        body = {"pair": row.uuid, "settled_by": self.user.username, "grade": settled.grade}
        return {**body, "reason": settled.reason, "created_at": settled.created_at}


@extend_schema_view(post=extend_schema(deprecated=True))
class Settle(Resolve):
    """The former name of the endpoint `resolve/`."""


class SettledBody(serializers.Serializer):
    """A pair that the caller judged and a lead resolved."""

    pair = serializers.UUIDField(source="uuid")
    query = QueryNamed()
    document = DocumentNamed()
    given = serializers.SerializerMethodField(
        help_text="The caller's own grade; null if they marked the pair unrateable."
    )
    settled = serializers.SerializerMethodField(help_text="The grade of the resolution.")
    reason = serializers.SerializerMethodField(help_text="The lead's reason.")

    def get_given(self, pair: Any) -> int | None:
        return pair.mine[0].grade if pair.mine else None

    def get_settled(self, pair: Any) -> int:
        return int(pair.resolutions[0].grade)

    def get_reason(self, pair: Any) -> str:
        return str(pair.resolutions[0].reason)


@listed("List the resolutions of your pairs", "The list is empty until the round is closed.")
class ResolutionsForRater(Listed, InRound):
    """The caller's resolved pairs of a closed round."""

    reads = access.RATERS
    scope = "rate"
    queryset = Pair.objects.none()
    serializer_class = SettledBody
    ordering = {"query": "query__query_id", "document": "document__doc_id"}
    tag = "rating"

    def rows(self) -> Any:
        return resolved_pairs_for(self.request.user, self.round)  # type: ignore[arg-type]


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
