"""API endpoints to create, list and revoke API tokens."""

from __future__ import annotations

import uuid as uuid_module

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.authentication import SessionAuthentication
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import recent_login
from judgments import tokens as verbs
from judgments.api.authentication import PasswordAuthentication
from judgments.api.endpoint import Endpoint
from judgments.core.errors import NotFound
from judgments.models import ApiToken


class Token(serializers.Serializer):
    """A token without its text, which nobody can read again."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=ApiToken.Scope.choices))
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(help_text="From then on it opens nothing.")
    last_used_at = serializers.DateTimeField(allow_null=True)


class FreshToken(Token):
    """A token with its text: shown now and never again."""

    token = serializers.CharField(help_text="Send it as `Authorization: Bearer <token>`.")


class NewToken(serializers.Serializer):
    """What the token is for."""

    name = serializers.CharField(max_length=100)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=ApiToken.Scope.choices),
        allow_empty=False,
        help_text="`read`, `rate` (lease pairs and send judgments), `write` (all that the user may do).",
    )
    expires_in_days = serializers.IntegerField(
        source="days", required=False, default=ApiToken.USUAL_DAYS, min_value=1, max_value=ApiToken.MOST_DAYS
    )


class Owned(Endpoint):
    """A person's own tokens. A token cannot make or list tokens: a leaked one must not breed."""

    authentication_classes = [PasswordAuthentication, SessionAuthentication]
    serializer_class = Token
    queryset = ApiToken.objects.all()
    also = (429,)
    tag = "tokens"

    def get_queryset(self) -> QuerySet[ApiToken]:
        mine = ApiToken.objects.filter(user_id=self.request.user.pk, revoked_at__isnull=True)
        return mine.filter(expires_at__gt=timezone.now())


class Tokens(ListModelMixin, Owned):
    """The caller's tokens."""

    @extend_schema(summary="My tokens")
    def get(self, request: Request) -> Response:
        """Those that open something; without their text."""
        return self.list(request)

    @extend_schema(
        summary="Make a token",
        request=NewToken,
        responses={201: FreshToken},
        examples=[OpenApiExample("A build", {"name": "nightly build", "scopes": ["read"]}, request_only=True)],
    )
    def post(self, request: Request) -> Response:
        """With a basic log-in, or with a session that logged in within the last 10 minutes (else 403 `log_in_again`).

        The text of the token is in this answer and nowhere again.
        """
        if not isinstance(request.successful_authenticator, PasswordAuthentication):
            recent_login.check(request)
        row, text = verbs.make_token(request.user, **self.sent(NewToken))
        return Response({**Token(row).data, "token": text}, status=201, headers={"Cache-Control": "no-store"})


class OneToken(Owned):
    """One of the caller's tokens."""

    @extend_schema(summary="Revoke a token", responses={204: None})
    def delete(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """From now on it opens nothing."""
        row = self.get_queryset().filter(uuid=uuid).first()
        if row is None:
            raise NotFound("You have no such token.")
        verbs.revoke_token(row, actor=request.user)
        return Response(status=204)
