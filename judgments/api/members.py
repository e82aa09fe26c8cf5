"""API endpoints to list, invite, change and remove the members of a collection."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access, member_invitations
from judgments import collections as verbs
from judgments.api.endpoint import InCollection, Rows
from judgments.core.errors import NotFound
from judgments.models import Membership, Role


class Member(serializers.Serializer):
    """One person and their role."""

    username = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(choices=Role.choices)
    languages = serializers.ListField(
        child=serializers.CharField(), help_text="What they read, as tags such as de; none means any."
    )
    qualifications = serializers.ListField(child=serializers.CharField(), help_text="What they were found fit for.")
    since = serializers.DateTimeField(source="created_at")


class NewMember(serializers.Serializer):
    """Whom to ask, and as what."""

    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=Role.choices)


class Noted(serializers.Serializer):
    """What is to change about a member; what is left out stays."""

    role = serializers.ChoiceField(choices=Role.choices, required=False)
    languages = serializers.ListField(child=serializers.CharField(max_length=35), required=False, max_length=30)
    qualifications = serializers.ListField(child=serializers.CharField(max_length=60), required=False, max_length=30)


class Members(Rows):
    """The people of a collection."""

    queryset = Membership.objects.select_related("user").order_by("user__username")
    serializer_class = Member
    filters = {"role": "role"}
    also = (409,)
    tag = "collections"

    @extend_schema(summary="The members")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Everybody with a role in the collection."""
        return self.list(request)

    @extend_schema(
        summary="Ask somebody to join",
        request=NewMember,
        responses={202: NewMember},
        examples=[OpenApiExample("A rater", {"username": "rater1", "role": "rater"}, request_only=True)],
    )
    def post(self, request: Request, slug: str) -> Response:
        """They are a member once they accept (`/invitations/`). Nobody is told whether anybody has the name."""
        asked = member_invitations.ask(self.collection, actor=request.user, **self.sent(NewMember))
        return self.told(NewMember, asked, 202)


class OneMember(InCollection):
    """One person of a collection."""

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
        """Another role, what they read, or what they were found fit for."""
        asked = self.sent(Noted)
        with transaction.atomic():
            if "role" in asked:
                verbs.change_role(self._member(username), actor=request.user, role=asked.pop("role"))
            if asked:
                verbs.note(self._member(username), actor=request.user, **asked)
        return self.told(Member, self._member(username))

    @extend_schema(summary="Remove a member", responses={204: None})
    def delete(self, request: Request, slug: str, username: str) -> Response:
        """They lose access at once, and others get what they hold. What they judged stays."""
        verbs.remove_member(self._member(username), actor=request.user)
        return Response(status=204)

    def _member(self, username: str) -> Membership:
        found = Membership.objects.filter(collection=self.collection, user__username=username).select_related("user")
        if (member := found.first()) is None:
            raise NotFound(f"{username} is not a member.")
        return member
