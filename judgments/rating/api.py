"""API endpoints for rating: lease pairs, submit judgments, list recent ones and undo them."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.exceptions import NotAuthenticated, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import AssayError, NotValid, TooLarge
from judgments.members import round_raters
from judgments.rating import assignment, start_requirements, submission
from judgments.rating.recent_answers import last_answers
from judgments.rating.serializers import AnswerSent, BatchBody, Joined, LastAnswers, ReceiptBody, Released, Results
from judgments.rating.submission import Answer, Receipt
from judgments.web import access
from judgments.web.endpoints import InRound
from judgments.web.errors import status_and_body

# More pairs than a rater can lease; a longer list is a mistake.
MOST_ANSWERS = 1_000
# Seconds until another request for a batch makes sense while pairs are being chosen.
LOOK_AGAIN = 5


class Rating(InRound):
    """Base class of the endpoints for raters. Engineers may not rate; leads may if they are raters of the round."""

    reads = writes = access.RATERS
    scope = "rate"
    also = (409, 410)
    tag = "rating"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse judgments that a browser stored for a user who is no longer logged in."""
        super().initial(request, *args, **kwargs)
        whose = request.headers.get("X-Assay-Rater")
        if whose and whose != str(request.user.uuid):
            raise NotAuthenticated("Another user is logged in now. Log in as the user who made these judgments.")


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
        """For raters who take a break. When they return, they get the pairs that nobody has taken. Judgments do not
        change."""
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
        responses={201: ReceiptBody, 200: Results},
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
