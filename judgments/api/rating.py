"""API endpoints for rating: lease pairs, submit judgments, read recent ones and undo them."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.exceptions import NotAuthenticated, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access, assignment, inviting, readiness, submission
from judgments.answers import Answer, Receipt
from judgments.api.endpoint import InRound
from judgments.api.errors import told_of
from judgments.api.rating_bodies import AnswerSent, BatchBody, Joined, LastAnswers, ReceiptBody, Released, Results
from judgments.core.errors import AssayError, NotValid, TooLarge
from judgments.last_answers import last_answers

# More than anybody can hold leases on; a longer list is a mistake.
MOST_ANSWERS = 1_000
# Seconds until it is worth to ask for a batch again while pairs are chosen.
LOOK_AGAIN = 5


class Rating(InRound):
    """What a rater does. An engineer may not; a lead may, where they were asked."""

    reads = writes = access.RATERS
    scope = "rate"
    also = (409, 410)
    tag = "rating"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Answers that a browser kept are recorded for who gave them, never for who is logged in there by now."""
        super().initial(request, *args, **kwargs)
        whose = request.headers.get("X-Assay-Rater")
        if whose and whose != str(request.user.uuid):
            raise NotAuthenticated("Somebody else is logged in here by now. Log in again as who gave these answers.")


class Batch(Rating):
    """Lease pairs."""

    related = ("scale", "guidelines")
    serializer_class = BatchBody

    @extend_schema(
        summary="Lease the next pairs",
        request=None,
        parameters=[OpenApiParameter("size", int, description="How many at most, 1-50; 10 when left out.")],
        responses={200: BatchBody, 204: None},
    )
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """First what is in hand already, then the rest of the query, then the next query. 204 when there is none.

        With `Retry-After` more may come: the next pairs are being chosen. Without it the caller is done.
        """
        claim = assignment.claim(self.round, rater=request.user, size=_size(request))
        if not claim.pairs:
            return Response(status=204, headers={"Retry-After": str(LOOK_AGAIN)} if self.round.growing else None)
        return self.told(BatchBody, self._batch(claim))

    def _batch(self, claim: assignment.Claim) -> dict[str, Any]:
        rater = self.request.user
        return {
            # The lease is the caller's hold on all of them; its name changes when it is renewed.
            "lease": uuid_module.uuid5(self.round.uuid, f"{rater.uuid} {claim.until}"),
            "expires_at": claim.until,
            "scale": self.round.scale.grades.all(),
            "guidelines_version": self.round.guidelines.number,
            "pairs": claim.pairs,
            "remaining": assignment.remaining(self.round, rater, claim.places),
        }


class Release(Rating):
    """Give back what is in hand."""

    serializer_class = Released

    @extend_schema(summary="Give back what is leased", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """For a rater who stops. Who comes back gets what nobody has taken meanwhile; no answer is touched."""
        return Response({"released": assignment.release(self.round, request.user)})


class Join(Rating):
    """Come by a round."""

    serializer_class = Joined

    @extend_schema(summary="Join a round that takes whoever fits", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """403 says what the caller lacks, 409 that the round is not open. Joining twice is joining once."""
        return self.told(Joined, inviting.join(self.round, rater=request.user))


class Judgments(Rating):
    """Send answers."""

    serializer_class = ReceiptBody
    related = ("scale",)

    @extend_schema(summary="Your last answers", responses={200: LastAnswers})
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """The last ten that stand, the newest first, while the round is open. Send another answer to change one."""
        assignment.check_open(self.round, request.user)
        readiness.require(self.round, request.user)
        return self.told(LastAnswers, {"results": last_answers(self.round, request.user)})

    @extend_schema(
        summary="Send one answer, or a list",
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
        """201 recorded, 200 recorded before, 409 never leased to you. A list is answered with 200, each on its own."""
        if not isinstance(request.data, list):
            receipt = submission.submit(self.round, _answer(request.data), rater=request.user)
            return self.told(ReceiptBody, receipt.judgment, 201 if receipt.new else 200)
        if len(request.data) > MOST_ANSWERS:
            raise TooLarge(f"A list has {MOST_ANSWERS:,} answers at most. Send it in parts.")
        return Response({"results": self._results(request.data)})

    def _results(self, items: list[Any]) -> list[dict[str, Any]]:
        """Those that can be read are recorded together; what is wrong with one is no reason to lose the others."""
        read = [_read(item) for item in items]
        answers = [answer for answer in read if isinstance(answer, Answer)]
        found = iter(submission.submit_all(self.round, answers, rater=self.request.user))
        return [
            _result(item, next(found) if isinstance(answer, Answer) else answer)
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


def _result(item: Any, found: Receipt | AssayError | ValidationError) -> dict[str, Any]:
    """What became of one answer of a list."""
    client_id = item.get("client_id") if isinstance(item, dict) else None
    client_id = str(client_id) if isinstance(client_id, str | int) else None
    if not isinstance(found, Receipt):
        status, body = told_of(found)
        return {"client_id": client_id, "status": status, "error": body["error"]}
    status = 201 if found.new else 200
    return {"client_id": client_id, "status": status, "surplus": found.judgment.surplus, "error": None}


class Undo(Rating):
    """Take an answer back."""

    serializer_class = ReceiptBody

    @extend_schema(summary="Take an answer back", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID, client_id: uuid_module.UUID) -> Response:
        """The pair is in the rater's hand again. Undoing twice is undoing once."""
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
        raise NotValid(f"A batch has 1 to {most} pairs.", {"size": f"A whole number from 1 to {most}."})
    return int(text)
