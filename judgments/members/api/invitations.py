"""API endpoints to invite users to a collection, and to accept or decline an invitation."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from judgments.members import invitations
from judgments.members.api.members import Member
from judgments.models import MemberInvitation, Role
from judgments.web import access
from judgments.web.endpoints import Endpoint, InCollection, Rows


class Invitation(serializers.Serializer):
    """An invited user. The response is the same whether or not the user name exists."""

    id = serializers.UUIDField(source="uuid")
    username = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    asked_at = serializers.DateTimeField(source="created_at")


class MyInvitation(serializers.Serializer):
    """A collection that you were invited to."""

    id = serializers.UUIDField(source="uuid")
    collection = serializers.CharField(source="collection.name")
    role = serializers.ChoiceField(choices=Role.choices)
    asked_by = serializers.CharField(source="created_by", allow_null=True)
    asked_at = serializers.DateTimeField(source="created_at")


class Invitations(Rows):
    """The pending invitations of a collection."""

    queryset = MemberInvitation.objects.order_by("-created_at", "-pk")
    serializer_class = Invitation
    reads = access.LEADS
    tag = "collections"

    @extend_schema(summary="List pending invitations")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return the invitations that were not accepted. Declined invitations are not marked."""
        return self.list(request)


class OneInvitation(InCollection):
    """One invitation of a collection."""

    serializer_class = Invitation
    tag = "collections"

    @extend_schema(summary="Withdraw an invitation", responses={204: None})
    def delete(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """The invitation disappears from the user's invitations."""
        invitation = invitations.get(self.collection.member_invitations.all(), uuid)
        invitations.withdraw(invitation, actor=request.user)
        return Response(status=204)


class MyInvitations(ListModelMixin, Endpoint):
    """Your invitations."""

    queryset = MemberInvitation.objects.none()
    serializer_class = MyInvitation
    tag = "collections"

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return super().get_queryset()
        return invitations.waiting_for(self.request.user)

    @extend_schema(summary="List your invitations")
    def get(self, request: Request) -> Response:
        """Return the collections that you were invited to and have not answered yet."""
        return self.list(request)


class MyOneInvitation(Endpoint):
    """One of your invitations."""

    serializer_class = Member
    also = (409,)
    tag = "collections"

    @extend_schema(summary="Accept an invitation", request=None, responses={201: Member})
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """You become a member immediately."""
        invitation = invitations.get(invitations.waiting_for(request.user), uuid)
        return self.respond(Member, invitations.accept(invitation, actor=request.user), 201)

    @extend_schema(summary="Decline an invitation", responses={204: None})
    def delete(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """The lead is not notified."""
        invitation = invitations.get(invitations.waiting_for(request.user), uuid)
        invitations.decline(invitation, actor=request.user)
        return Response(status=204)
