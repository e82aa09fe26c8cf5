"""API endpoints to invite users to a collection, and to accept or decline an invitation."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access, member_invitations
from judgments.api.endpoint import Endpoint, InCollection, Rows
from judgments.api.members import Member
from judgments.models import MemberInvitation, Role


class Invitation(serializers.Serializer):
    """Somebody who was asked to join; the same whether or not anybody has the name."""

    id = serializers.UUIDField(source="uuid")
    username = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    asked_at = serializers.DateTimeField(source="created_at")


class MyInvitation(serializers.Serializer):
    """A collection that you were asked to join."""

    id = serializers.UUIDField(source="uuid")
    collection = serializers.CharField(source="collection.name")
    role = serializers.ChoiceField(choices=Role.choices)
    asked_by = serializers.CharField(source="created_by", allow_null=True)
    asked_at = serializers.DateTimeField(source="created_at")


class Invitations(Rows):
    """The invitations of a collection that wait for an answer."""

    queryset = MemberInvitation.objects.order_by("-created_at", "-pk")
    serializer_class = Invitation
    reads = access.LEADS
    tag = "collections"

    @extend_schema(summary="Who was asked to join")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Those who have not joined. Nobody is told who declined."""
        return self.list(request)


class OneInvitation(InCollection):
    """One invitation of a collection."""

    serializer_class = Invitation
    tag = "collections"

    @extend_schema(summary="Withdraw an invitation", responses={204: None})
    def delete(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """It is not shown to anybody any more."""
        invitation = member_invitations.found(self.collection.member_invitations.all(), uuid)
        member_invitations.withdraw(invitation, actor=request.user)
        return Response(status=204)


class MyInvitations(ListModelMixin, Endpoint):
    """What you were asked to join."""

    queryset = MemberInvitation.objects.none()
    serializer_class = MyInvitation
    tag = "collections"

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return super().get_queryset()
        return member_invitations.waiting_for(self.request.user)

    @extend_schema(summary="Your invitations")
    def get(self, request: Request) -> Response:
        """Collections that you were asked to join and have not answered."""
        return self.list(request)


class MyOneInvitation(Endpoint):
    """One of them."""

    serializer_class = Member
    also = (409,)
    tag = "collections"

    @extend_schema(summary="Accept an invitation", request=None, responses={201: Member})
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """You are a member from now on."""
        invitation = member_invitations.found(member_invitations.waiting_for(request.user), uuid)
        return self.told(Member, member_invitations.accept(invitation, actor=request.user), 201)

    @extend_schema(summary="Decline an invitation", responses={204: None})
    def delete(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """The lead is not told."""
        invitation = member_invitations.found(member_invitations.waiting_for(request.user), uuid)
        member_invitations.decline(invitation, actor=request.user)
        return Response(status=204)
