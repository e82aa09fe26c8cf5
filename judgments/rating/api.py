"""API for rating: lease pairs, submit judgments, list recent ones and undo them."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotAuthenticated, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import AssayError, NotValid, TooLarge
from judgments.members import round_raters
from judgments.models import Judgment
from judgments.models.document import DocumentKind
from judgments.rating import assignment, start_requirements, submission
from judgments.rating.recent_answers import last_answers
from judgments.rating.submission import LONGEST_NOTE, STATES, Answer, Receipt
from judgments.rounds.api import DocumentOfPair, GradeBody, QueryOfPair
from judgments.web import access
from judgments.web.endpoints import ErrorBody, InRound
from judgments.web.error_responses import status_and_body
from judgments.web.rich_text import document_html

# More pairs than a rater can lease; a longer list is a mistake.
MOST_ANSWERS = 1_000
# Seconds until another request for a batch makes sense while pairs are being chosen.
LOOK_AGAIN = 5

CHOICES = {
    "by": ("key", "click", "touch"),
    "view": ("one", "list"),
    "text": ("excerpt", "whole", "short"),
    "width": ("narrow", "middle", "wide"),
}
FLAGS = ("marks",)
# The number of earlier undos, and the position of the judgment in the session.
NUMBERS = ("undos", "place")
LARGEST = 1_000_000


def clean_interactions(submitted: Any) -> dict[str, Any]:
    """Return the submitted details without unknown names and invalid values."""
    if not isinstance(submitted, dict):
        return {}
    events: dict[str, Any] = {name: submitted[name] for name, known in CHOICES.items() if submitted.get(name) in known}
    events |= {name: submitted[name] for name in FLAGS if isinstance(submitted.get(name), bool)}
    return events | {name: submitted[name] for name in NUMBERS if _count(submitted.get(name))}


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


class QueryShown(serializers.Serializer):
    """The query shown to the rater."""

    id = serializers.CharField(source="query_id")
    text = serializers.CharField()
    narrative = serializers.CharField()


class DocumentShown(serializers.Serializer):
    """The document shown to the rater."""

    id = serializers.CharField(source="doc_id")
    title = serializers.CharField()
    html = serializers.SerializerMethodField(help_text="Safe HTML: scripts and styles are removed.")
    url = serializers.CharField()
    image = serializers.CharField()
    fields = serializers.DictField()

    def get_html(self, document: Any) -> str:
        return str(document_html(document.text))


class PassageShown(serializers.Serializer):
    """A passage of evidence shown to the rater."""

    id = serializers.CharField()
    title = serializers.CharField()
    html = serializers.CharField(help_text="Safe HTML.")
    url = serializers.CharField()


class PairShown(serializers.Serializer):
    """One pair to grade."""

    id = serializers.UUIDField(source="uuid")
    kind = serializers.ChoiceField(
        choices=DocumentKind.choices, help_text="The kind; if it is `answer`, `document.html` is the answer."
    )
    query = QueryShown()
    document = DocumentShown()
    evidence = PassageShown(
        many=True, help_text="Evidence of an answer, in the order of its citations; empty for a document."
    )
    reference = serializers.CharField(help_text="The reference answer, if there is one and the round shows it.")

    def to_representation(self, pair: Any) -> dict[str, Any]:
        """Return the fields directly, because nested serializers would take as long as the lease itself."""
        query, document = pair.query, pair.document
        return {
            "id": str(pair.uuid),
            "kind": document.kind,
            "query": {"id": query.query_id, "text": query.text, "narrative": query.narrative},
            "document": {
                "id": document.doc_id,
                "title": document.title,
                "html": str(document_html(document.text)),
                "url": document.url,
                "image": document.image,
                "fields": document.fields,
            },
            "evidence": [_passage(one) for one in document.evidence],
            "reference": document.reference if document.reference and pair.round.shows_reference else "",
        }


def _passage(one: dict[str, str]) -> dict[str, str]:
    html = str(document_html(one["text"]))
    return {"id": one["doc_id"], "title": one["title"], "html": html, "url": one["url"]}


class BatchBody(serializers.Serializer):
    """Pairs leased to the caller."""

    lease = serializers.UUIDField()
    expires_at = serializers.DateTimeField()
    scale = GradeBody(many=True)
    guidelines_version = serializers.IntegerField()
    pairs = PairShown(many=True)
    remaining = serializers.IntegerField(help_text="Pairs that the caller can still grade, including these.")


class AnswerSent(serializers.Serializer):
    """One judgment: a grade, or a state without a grade."""

    client_id = serializers.UUIDField(
        help_text="A UUID that the client creates for each judgment; a repeated request counts once."
    )
    pair = serializers.UUIDField()
    grade = serializers.IntegerField(required=False, allow_null=True, default=None)
    state = serializers.ChoiceField(choices=STATES, default=Judgment.State.GRADED)
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=500)
    note = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=LONGEST_NOTE, trim_whitespace=False
    )
    seconds_active = serializers.FloatField(required=False, allow_null=True, default=None, min_value=0, max_value=1e7)
    seconds_away = serializers.FloatField(required=False, allow_null=True, default=None, min_value=0, max_value=1e7)
    if_open = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Record the judgment only if your current judgment of the pair is neither `graded` nor `unrateable`; "
        "otherwise the existing judgment is kept and the status is 200.",
    )
    how = serializers.JSONField(
        required=False, default=dict, help_text="How the judgment was made (see docs/rating.md). Omit unknown values."
    )

    def validate_how(self, value: Any) -> dict[str, Any]:
        return clean_interactions(value)


class ReceiptBody(serializers.Serializer):
    """The receipt of a judgment."""

    client_id = serializers.UUIDField()
    pair = serializers.UUIDField(source="pair.uuid")
    state = serializers.ChoiceField(choices=Judgment.State.choices)
    grade = serializers.IntegerField(allow_null=True)
    surplus = serializers.BooleanField(
        help_text="True if the pair already had all its ratings; the judgment is then stored but not counted."
    )


class ItemResult(serializers.Serializer):
    """The result for one judgment of a list."""

    client_id = serializers.CharField(allow_null=True)
    status = serializers.IntegerField(
        help_text="The status that the judgment would have if sent alone: 201, 200, 400, 404, 409 or 410."
    )
    surplus = serializers.BooleanField(required=False)
    error = ErrorBody(allow_null=True, help_text="The error; null if the judgment was recorded.")


class JudgmentResults(serializers.Serializer):
    """One result per judgment, in the order they were sent."""

    results = ItemResult(many=True)


class QueryNamed(QueryOfPair):
    """The query of a judgment."""


class DocumentNamed(DocumentOfPair):
    """The document of a judgment."""


class LastAnswerBody(serializers.Serializer):
    """A current judgment of the caller."""

    client_id = serializers.UUIDField(source="answer.client_id")
    pair = serializers.UUIDField(source="pair.uuid")
    query = QueryNamed(source="pair.query")
    document = DocumentNamed(source="pair.document")
    state = serializers.ChoiceField(source="answer.state", choices=STATES)
    grade = serializers.IntegerField(source="answer.grade", allow_null=True)
    reason = serializers.CharField(source="answer.reason")
    note = serializers.CharField(source="answer.note")
    changeable = serializers.BooleanField(help_text="Whether the caller can still change it.")


class LastAnswers(serializers.Serializer):
    """The caller's recent judgments, newest first."""

    results = LastAnswerBody(many=True)


class Released(serializers.Serializer):
    """The number of released pairs."""

    released = serializers.IntegerField(help_text="Number of pairs that other raters can get now.")


class Joined(serializers.Serializer):
    """The caller's pseudonym."""

    pseudonym = serializers.CharField()


def check_same_user(request: Request) -> None:
    """Refuse rows that a browser stored for a user who is no longer logged in."""
    whose = request.headers.get("X-Assay-Rater")
    if whose and whose != str(request.user.uuid):
        raise NotAuthenticated("Another user is logged in now. Log in as the user who made these judgments.")


class Rating(InRound):
    """Base class of the endpoints for raters. Engineers may not rate; leads may if they are raters of the round."""

    reads = writes = access.RATERS
    scope = "rate"
    also = (409, 410)
    tag = "rating"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse judgments that a browser stored for a user who is no longer logged in."""
        super().initial(request, *args, **kwargs)
        check_same_user(request)


class Batch(Rating):
    """A batch of leased pairs."""

    related = ("scale", "guidelines")
    serializer_class = BatchBody

    @extend_schema(
        summary="Lease the next pairs",
        request=None,
        parameters=[OpenApiParameter("size", int, description="Maximum number of pairs, 1-50; by default 10.")],
        responses={200: BatchBody, 204: None},
    )
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Pairs already leased come first, then the rest of the query, then the next query.

        The status is 204 if none are left.
        """
        claim = assignment.claim(self.round, rater=request.user, size=_size(request))
        if not claim.pairs:
            return Response(status=204, headers={"Retry-After": str(LOOK_AGAIN)} if self.round.growing else None)
        return self.respond(BatchBody, self._batch(claim))

    def _batch(self, claim: assignment.Claim) -> dict[str, Any]:
        rater = self.request.user
        return {
            # The lease covers all of them; its id changes when it is renewed.
            "lease": uuid_module.uuid5(self.round.uuid, f"{rater.uuid} {claim.until}"),
            "expires_at": claim.until,
            "scale": self.round.scale.grades.all(),
            "guidelines_version": self.round.guidelines.number,
            "pairs": claim.pairs,
            "remaining": assignment.remaining(self.round, rater, claim.places),
        }


class Release(Rating):
    """A release of leased pairs."""

    serializer_class = Released

    @extend_schema(summary="Release leased pairs", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """For raters who take a break. When they return, they get those of the pairs that nobody else has leased.
        Judgments do not change."""
        return Response({"released": assignment.release(self.round, request.user)})


class Join(Rating):
    """Joining a round."""

    serializer_class = Joined

    @extend_schema(summary="Join an open round", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """The status is 403 with the missing requirement, or 409 if the round is not open. Joining again has no
        effect."""
        return self.respond(Joined, round_raters.join(self.round, rater=request.user))


class Judgments(Rating):
    """Judgments of the caller."""

    serializer_class = ReceiptBody
    related = ("scale",)

    @extend_schema(summary="List your recent judgments", responses={200: LastAnswers})
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Return the last ten current judgments, newest first, while the round is open."""
        assignment.check_open(self.round, request.user)
        start_requirements.check_ready(self.round, request.user)
        return self.respond(LastAnswers, {"results": last_answers(self.round, request.user)})

    @extend_schema(
        summary="Submit one or more judgments",
        request=AnswerSent,
        responses={201: ReceiptBody, 200: JudgmentResults},
        examples=[
            OpenApiExample(
                "A grade",
                {"client_id": "7d9f5c1e-5a35-4a0c-9d5c-0d3f3a1f9b11", "pair": "<id from the batch>", "grade": 2},
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """The status is 201 if the judgment is recorded, 200 if it already was, and 409 if the pair was never leased to
        you."""
        if not isinstance(request.data, list):
            receipt = submission.submit(self.round, _answer(request.data), rater=request.user)
            return self.respond(ReceiptBody, receipt.judgment, 201 if receipt.new else 200)
        if len(request.data) > MOST_ANSWERS:
            raise TooLarge(f"A list may have at most {MOST_ANSWERS:,} judgments. Send the list in parts.")
        return Response({"results": self._results(request.data)})

    def _results(self, items: list[Any]) -> list[dict[str, Any]]:
        """Record the valid judgments together; an invalid one does not affect the others."""
        read = [_read(item) for item in items]
        answers = [answer for answer in read if isinstance(answer, Answer)]
        results = iter(submission.submit_all(self.round, answers, rater=self.request.user))
        return [
            _result(item, next(results) if isinstance(answer, Answer) else answer)
            for item, answer in zip(items, read, strict=True)
        ]


def _answer(item: Any) -> Answer:
    checked = AnswerSent(data=item)
    checked.is_valid(raise_exception=True)
    return Answer(**checked.validated_data)


def _read(item: Any) -> Answer | ValidationError:
    try:
        return _answer(item)
    except ValidationError as error:
        return error


def _result(item: Any, result: Receipt | AssayError | ValidationError) -> dict[str, Any]:
    """Return the result for one judgment of a list."""
    client_id = item.get("client_id") if isinstance(item, dict) else None
    client_id = str(client_id) if isinstance(client_id, str | int) else None
    if not isinstance(result, Receipt):
        status, body = status_and_body(result)
        return {"client_id": client_id, "status": status, "error": body["error"]}
    status = 201 if result.new else 200
    return {"client_id": client_id, "status": status, "surplus": result.judgment.surplus, "error": None}


class Undo(Rating):
    """Undo of a judgment."""

    serializer_class = ReceiptBody

    @extend_schema(summary="Undo a judgment", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID, client_id: uuid_module.UUID) -> Response:
        """Lease the pair to the rater again. A repeated request has no effect."""
        event = submission.undo(self.round, client_id, rater=request.user)
        return Response(
            {
                "client_id": str(client_id),
                "pair": str(event.pair.uuid),
                "state": event.state,
                "grade": None,
                "surplus": False,
            }
        )


def _size(request: Request) -> int:
    text = request.query_params.get("size", "10")
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= assignment.LARGEST_BATCH):
        most = assignment.LARGEST_BATCH
        raise NotValid(f"The batch size must be from 1 to {most}.", {"size": f"Send a whole number from 1 to {most}."})
    return int(text)
