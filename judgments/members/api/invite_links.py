"""API endpoints to list, create and revoke invitation links for raters."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.urls import reverse
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotFound
from judgments.members import invite_links
from judgments.models import InviteLink
from judgments.web import access
from judgments.web.endpoints import InCollection, Rows, rows_called
from judgments.web.serializers import Strict


class LinkBody(serializers.Serializer):
    """A link without its code, which cannot be read again."""

    id = serializers.UUIDField(source="uuid")
    meant_for = serializers.CharField()
    round = serializers.UUIDField(source="round.uuid", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    used_at = serializers.DateTimeField(allow_null=True)
    used_by = serializers.CharField(source="used_by.username", allow_null=True, default=None)
    revoked_at = serializers.DateTimeField(allow_null=True)


class FreshLink(LinkBody):
    """A link with its address, which is returned only once."""

    address = serializers.CharField(help_text="Send the link to one person. The code follows the #.")


class NewLink(Strict):
    """Recipient, round and lifetime of a link."""

    meant_for = serializers.CharField(required=False, allow_blank=True, default="", max_length=100)
    round = serializers.UUIDField(required=False, allow_null=True, default=None)
    days = serializers.IntegerField(min_value=1, max_value=invite_links.MOST_DAYS, default=invite_links.USUAL_DAYS)


class InviteLinks(Rows):
    """The invitation links of a collection."""

    queryset = InviteLink.objects.select_related("round", "used_by").order_by("-created_at", "-pk")
    serializer_class = LinkBody
    reads = access.LEADS
    also = (409,)
    tag = "collections"

    @extend_schema(summary="List invitation links")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return all links, including used, revoked and expired ones. The status is 404 if the operator has not enabled
        links."""
        invite_links.switched_on()
        return self.list(request)

    @extend_schema(
        summary="Create an invitation link",
        request=NewLink,
        responses={201: FreshLink},
        examples=[OpenApiExample("For a week", {"meant_for": "Rosa", "days": 7}, request_only=True)],
    )
    def post(self, request: Request, slug: str) -> Response:
        """One person can use the link once, to create an account and become a rater. The address is only in this
        response."""
        invite_links.switched_on()
        options = self.read_body(NewLink)
        uuids = [options.pop("round")]
        [round_] = rows_called(self.collection.rounds.all(), uuids, "round", "round") if uuids[0] else [None]
        link, text = invite_links.make(self.collection, actor=request.user, round_=round_, **options)
        address = f"{request.build_absolute_uri(reverse('invite'))}#{text}"
        body = {**LinkBody(link).data, "address": address}
        return Response(body, status=201, headers={"Cache-Control": "no-store"})


class OneInviteLink(InCollection):
    """One invitation link."""

    serializer_class = LinkBody
    also = (409,)
    tag = "collections"

    @extend_schema(summary="Revoke an invitation link", responses={204: None})
    def delete(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """The link stops working immediately. People who joined with it stay members."""
        link = self.collection.invite_links.filter(uuid=uuid).first()
        if link is None:
            raise NotFound("This collection has no such invitation link.")
        invite_links.revoke(link, actor=request.user)
        return Response(status=204)
