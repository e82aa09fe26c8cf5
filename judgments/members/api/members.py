"""API endpoints to list, invite, change and remove the members of a collection."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotFound
from judgments.members import collections as verbs
from judgments.members import invitations
from judgments.models import Membership, Role
from judgments.web import access
from judgments.web.endpoints import InCollection, Rows


class Member(serializers.Serializer):
    """A member and their role."""

    username = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(choices=Role.choices)
    languages = serializers.ListField(
        child=serializers.CharField(), help_text="Languages that the member reads, as tags such as de; empty means any."
    )
    qualifications = serializers.ListField(child=serializers.CharField(), help_text="Names of qualifications.")
    since = serializers.DateTimeField(source="created_at")


class NewMember(serializers.Serializer):
    """The user to invite, and the role."""

    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=Role.choices)


class Noted(serializers.Serializer):
    """Changeable fields of a member; omitted fields stay as they are."""

    role = serializers.ChoiceField(choices=Role.choices, required=False)
    languages = serializers.ListField(child=serializers.CharField(max_length=35), required=False, max_length=30)
    qualifications = serializers.ListField(child=serializers.CharField(max_length=60), required=False, max_length=30)


class Members(Rows):
    """The members of a collection."""

    queryset = Membership.objects.select_related("user").order_by("user__username")
    serializer_class = Member
    filters = {"role": "role"}
    also = (409,)
    tag = "collections"

    @extend_schema(summary="List members")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return every user with a role in the collection."""
        return self.list(request)

    @extend_schema(
        summary="Invite a user",
        request=NewMember,
        responses={202: NewMember},
        examples=[OpenApiExample("A rater", {"username": "rater1", "role": "rater"}, request_only=True)],
    )
    def post(self, request: Request, slug: str) -> Response:
        """The user becomes a member after accepting the invitation (`/invitations/`)."""
        invitation = invitations.invite(self.collection, actor=request.user, **self.read_body(NewMember))
        return self.respond(NewMember, invitation, 202)


class OneMember(InCollection):
    """One member of a collection."""

    serializer_class = Member
    reads, writes = access.STAFF, access.LEADS
    also = (409,)
    tag = "collections"

    @extend_schema(
        summary="Change a member",
        request=Noted,
        examples=[OpenApiExample("A rater's languages", {"languages": ["de", "en"]}, request_only=True)],
    )
    def patch(self, request: Request, slug: str, username: str) -> Response:
        """Change the role, the languages or the qualifications."""
        changes = self.read_body(Noted)
        with transaction.atomic():
            if "role" in changes:
                verbs.change_role(self._member(username), actor=request.user, role=changes.pop("role"))
            if changes:
                verbs.update_member_notes(self._member(username), actor=request.user, **changes)
        return self.respond(Member, self._member(username))

    @extend_schema(summary="Remove a member", responses={204: None})
    def delete(self, request: Request, slug: str, username: str) -> Response:
        """The member loses access immediately, and leased pairs go to others. Judgments stay."""
        verbs.remove_member(self._member(username), actor=request.user)
        return Response(status=204)

    def _member(self, username: str) -> Membership:
        rows = Membership.objects.filter(collection=self.collection, user__username=username).select_related("user")
        if (member := rows.first()) is None:
            raise NotFound(f"{username} is not a member of this collection.")
        return member
