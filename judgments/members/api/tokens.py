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

from assay.core.errors import NotFound
from judgments.members import recent_login
from judgments.members import tokens as verbs
from judgments.members.token_authentication import PasswordAuthentication
from judgments.models import ApiToken
from judgments.web.endpoints import Endpoint


class Token(serializers.Serializer):
    """A token without its secret, which cannot be read again."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=ApiToken.Scope.choices))
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(help_text="When the token expires.")
    last_used_at = serializers.DateTimeField(allow_null=True)


class FreshToken(Token):
    """A token with its secret, which is shown only once."""

    token = serializers.CharField(help_text="Send it as `Authorization: Bearer <token>`.")


class NewToken(serializers.Serializer):
    """Name, scopes and lifetime of a token."""

    name = serializers.CharField(max_length=100)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=ApiToken.Scope.choices),
        allow_empty=False,
        help_text="`read`, `rate` (lease pairs and submit judgments), or `write` (everything that the user may do).",
    )
    expires_in_days = serializers.IntegerField(
        source="days", required=False, default=ApiToken.USUAL_DAYS, min_value=1, max_value=ApiToken.MOST_DAYS
    )


class Owned(Endpoint):
    """The user's own tokens. A token cannot create or list tokens, so a leaked token cannot create others."""

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

    @extend_schema(summary="List my tokens")
    def get(self, request: Request) -> Response:
        """Return the valid tokens, without their secrets."""
        return self.list(request)

    @extend_schema(
        summary="Create a token",
        request=NewToken,
        responses={201: FreshToken},
        examples=[OpenApiExample("A build", {"name": "nightly build", "scopes": ["read"]}, request_only=True)],
    )
    def post(self, request: Request) -> Response:
        """This requires basic authentication, or a login within the last 10 minutes (otherwise 403 `log_in_again`)."""
        if not isinstance(request.successful_authenticator, PasswordAuthentication):
            recent_login.check(request)
        row, text = verbs.make_token(request.user, **self.read_body(NewToken))
        return Response({**Token(row).data, "token": text}, status=201, headers={"Cache-Control": "no-store"})


class OneToken(Owned):
    """One of the caller's tokens."""

    @extend_schema(summary="Revoke a token", responses={204: None})
    def delete(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """The token stops working immediately."""
        row = self.get_queryset().filter(uuid=uuid).first()
        if row is None:
            raise NotFound("You have no such token.")
        verbs.revoke_token(row, actor=request.user)
        return Response(status=204)
