"""Who belongs to a collection?"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import collections as verbs
from judgments.api.endpoint import Rows
from judgments.models import Membership, Role


class Member(serializers.Serializer):
    """One person and their role."""

    username = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(choices=Role.choices)
    since = serializers.DateTimeField(source="created_at")


class NewMember(serializers.Serializer):
    """Whom to add, and as what."""

    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=Role.choices)


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
        summary="Add a member",
        request=NewMember,
        responses={201: Member},
        examples=[OpenApiExample("A rater", {"username": "rater1", "role": "rater"}, request_only=True)],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Give a person who has an account a role in the collection."""
        return self.told(Member, verbs.add_member(self.collection, actor=request.user, **self.sent(NewMember)), 201)
