"""API endpoints for collections, their members, invitations and invitation links, and for API tokens."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import OuterRef, Prefetch, QuerySet, Subquery
from django.urls import reverse
from django.utils import timezone
from rest_framework import serializers
from rest_framework.authentication import SessionAuthentication
from rest_framework.response import Response

from judgments.documents import result_templates
from judgments.members import collections as verbs
from judgments.members import invitations, invite_links, tokens
from judgments.members.tokens import PasswordAuthentication
from judgments.models import ApiToken, Collection, InviteLink, MemberInvitation, Membership, Role, Round
from judgments.web import access
from judgments.web.api_lists import wants_archived
from judgments.web.endpoints import Endpoint, InCollection, Listed, Rows, call, listed, rows_called
from judgments.web.serializers import Strict, Texts


class Member(serializers.Serializer):
    """A member and their role."""

    username = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(choices=Role.choices)
    languages = Texts(help_text="Languages that the member reads, as tags such as de; empty means any.")
    qualifications = Texts(help_text="Names of qualifications.")
    since = serializers.DateTimeField(source="created_at")


class NewMember(serializers.Serializer):
    """The user to invite, and the role."""

    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=Role.choices)


class Noted(serializers.Serializer):
    """Changeable fields of a member; omitted fields do not change."""

    role = serializers.ChoiceField(choices=Role.choices, required=False)
    languages = serializers.ListField(child=serializers.CharField(max_length=35), required=False, max_length=30)
    qualifications = serializers.ListField(child=serializers.CharField(max_length=60), required=False, max_length=30)


@listed("List members", "Return every user with a role in the collection.")
class Members(Rows):
    queryset = Membership.objects.select_related("user").order_by("user__username")
    serializer_class = Member
    filters = {"role": "role"}
    ordering = {"username": "user__username", "role": "role", "since": "created_at"}
    also = (409,)
    tag = "collections"

    @call(
        "Invite a user", NewMember, NewMember, status=202, example=("A rater", {"username": "rater1", "role": "rater"})
    )
    def post(self, body: dict[str, Any]) -> MemberInvitation:
        """The user becomes a member after accepting the invitation (`/invitations/`)."""
        return invitations.invite(self.collection, actor=self.user, **body)


class OneMember(InCollection):
    also = (409,)
    tag = "collections"

    @call("Get a member", Member)
    def get(self) -> Membership:
        return self._member()

    @call("Change a member", Member, Noted, example=("A rater's languages", {"languages": ["de", "en"]}))
    def patch(self, body: dict[str, Any]) -> Membership:
        """Change the role, the languages or the qualifications."""
        with transaction.atomic():
            if "role" in body:
                verbs.change_role(self._member(), actor=self.user, role=body.pop("role"))
            if body:
                verbs.update_member_notes(self._member(), actor=self.user, **body)
        return self._member()

    @call("Remove a member")
    def delete(self) -> None:
        """The member loses access immediately, and leased pairs are given to other raters. Judgments are kept."""
        verbs.remove_member(self._member(), actor=self.user)

    def _member(self) -> Membership:
        username = self.kwargs["username"]
        rows = self.collection.memberships.filter(user__username=username).select_related("user")
        return access.existing(rows, f"{username} is not a member of this collection.")


class OpenRound(serializers.Serializer):
    """An open round in which the caller rates."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()


class CollectionRow(serializers.Serializer):
    """A collection as every member sees it."""

    id = serializers.UUIDField(source="uuid")
    slug = serializers.CharField()
    name = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices, help_text="The caller's role.")
    open_rounds = OpenRound(many=True, source="asking", help_text="Open rounds in which the caller rates.")


class CollectionBody(serializers.Serializer):
    """A collection as leads and engineers see it."""

    id = serializers.UUIDField(source="uuid")
    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    result_template = serializers.CharField()
    license = serializers.CharField()
    embedding_changed_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()


class NewCollection(serializers.Serializer):
    """Name and slug of a new collection."""

    slug = serializers.SlugField(max_length=60, help_text="Part of every URL; it cannot be changed later.")
    name = serializers.CharField(max_length=120)
    description = serializers.CharField(allow_blank=True, default="")


class CollectionChange(serializers.Serializer):
    """Changeable fields; omitted fields do not change."""

    name = serializers.CharField(max_length=120, required=False)
    description = serializers.CharField(required=False, allow_blank=True)
    result_template = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=result_templates.LONGEST,
        help_text="How documents look as search results, such as `title: {title}`; empty for the usual view.",
    )
    license = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=200,
        help_text="License of the labels, such as `CC-BY-4.0`; in the data card of new snapshots.",
    )
    embedding_changed_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="When the embeddings changed; earlier grades may be stale."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "slug" in self.initial_data:
            raise serializers.ValidationError({"slug": "The slug is part of every URL and cannot be changed."})
        return attrs


@listed(
    "List my collections",
    "Return every collection that the caller is a member of, with the open rounds in which the caller rates.",
)
class Collections(Listed, Endpoint):
    queryset = Collection.objects.all()
    serializer_class = CollectionRow
    filters = {"slug": "slug", "name": "name"}
    ordering = {"slug": "slug", "name": "name", "created_at": "created_at"}
    also = (409,)
    tag = "collections"

    def rows(self) -> QuerySet[Collection]:
        user = self.request.user
        mine = Membership.objects.filter(collection=OuterRef("pk"), user_id=user.pk)
        rounds = Round.objects.open_to(user).order_by("opened_at")
        archived = wants_archived(self.request)
        rows = Collection.objects.filter(memberships__user_id=user.pk, archived_at__isnull=not archived)
        rows = rows.annotate(role=Subquery(mine.values("role")[:1]))
        return rows.prefetch_related(Prefetch("rounds", rounds, to_attr="asking"))

    @call(
        "Create a collection",
        CollectionBody,
        request=NewCollection,
        status=201,
        example=("Shop", {"slug": "shop", "name": "Outdoor shop, site search"}),
    )
    def post(self) -> Collection:
        """The creator becomes the lead of the collection. This requires the permission to create collections, which
        operators grant."""
        access.check_may_create_collections(self.user)
        return verbs.create_collection(actor=self.user, **self.read_body(NewCollection))


class OneCollection(InCollection):
    """One collection."""

    tag = "collections"

    @call("Get a collection", CollectionBody)
    def get(self) -> Collection:
        return self.collection

    @call("Change a collection", CollectionBody, CollectionChange)
    def patch(self, body: dict[str, Any]) -> Collection:
        """Change everything but the slug."""
        return verbs.update_collection(self.collection, actor=self.user, **body)


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


@listed(
    "List pending invitations",
    "Return invitations that have not been accepted, including declined ones, which are not marked.",
)
class Invitations(Rows):
    queryset = MemberInvitation.objects.order_by("-created_at", "-pk")
    serializer_class = Invitation
    filters = {"role": "role"}
    ordering = {"username": "username", "role": "role", "asked_at": "created_at"}
    reads = access.LEADS
    tag = "collections"


class OneInvitation(InCollection):
    tag = "collections"

    @call("Withdraw an invitation")
    def delete(self) -> None:
        """The user no longer sees the invitation."""
        invitation = invitations.get(self.collection.member_invitations.all(), self.kwargs["uuid"])
        invitations.withdraw(invitation, actor=self.user)


@listed("List your invitations", "Return the invitations that you have not answered yet.")
class MyInvitations(Listed, Endpoint):
    queryset = MemberInvitation.objects.none()
    serializer_class = MyInvitation
    filters = {"role": "role"}
    ordering = {"collection": "collection__name", "asked_at": "created_at"}
    tag = "collections"

    def rows(self) -> Any:
        return invitations.waiting_for(self.request.user)


class MyOneInvitation(Endpoint):
    also = (409,)
    tag = "collections"

    def _invitation(self) -> MemberInvitation:
        return invitations.get(invitations.waiting_for(self.user), self.kwargs["uuid"])

    @call("Accept an invitation", Member, status=201)
    def post(self) -> Membership:
        """You become a member immediately."""
        return invitations.accept(self._invitation(), actor=self.user)

    @call("Decline an invitation")
    def delete(self) -> None:
        """The lead is not notified."""
        invitations.decline(self._invitation(), actor=self.user)


class LinkBody(serializers.Serializer):
    """A link without its code, which cannot be read again."""

    id = serializers.UUIDField(source="uuid")
    meant_for = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    round = serializers.UUIDField(source="round.uuid", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    used_at = serializers.DateTimeField(allow_null=True)
    used_by = serializers.CharField(source="used_by.username", allow_null=True, default=None)
    revoked_at = serializers.DateTimeField(allow_null=True)


class FreshLink(LinkBody):
    """A link with its address, which is returned only once."""

    address = serializers.CharField(help_text="The link to send to one person. The code follows the #.")


class NewLink(Strict):
    """Recipient, role, round and lifetime of a link."""

    meant_for = serializers.CharField(allow_blank=True, default="", max_length=100)
    role = serializers.ChoiceField(choices=Role.choices, default=Role.RATER)
    round = serializers.UUIDField(allow_null=True, default=None)
    days = serializers.IntegerField(min_value=1, max_value=invite_links.MOST_DAYS, default=invite_links.USUAL_DAYS)


class InviteLinks(Rows):
    queryset = InviteLink.objects.select_related("round", "used_by").order_by("-created_at", "-pk")
    serializer_class = LinkBody
    returns_secret = True
    filters = {"role": "role"}
    ordering = {name: name for name in ("created_at", "expires_at", "meant_for")}
    reads = access.LEADS
    also = (409,)
    tag = "collections"

    @call("List invitation links", responses=LinkBody)
    def get(self) -> Response:
        """Return all links, including used, revoked and expired ones. The status is 404 if the operator has disabled
        links."""
        invite_links.switched_on()
        return self.list(self.request)

    @call(
        "Create an invitation link",
        FreshLink,
        request=NewLink,
        status=201,
        example=("For a week", {"meant_for": "Rosa", "days": 7}),
    )
    def post(self) -> Response:
        """One person can use the link once, to create an account and become a member. Only this response contains
        the address."""
        invite_links.switched_on()
        body = self.read_body(NewLink)
        uuids = [body.pop("round")]
        [round_] = rows_called(self.collection.rounds.all(), uuids, "round", "round") if uuids[0] else [None]
        link, text = invite_links.make(self.collection, actor=self.user, round_=round_, **body)
        return once({**LinkBody(link).data, "address": f"{self.request.build_absolute_uri(reverse('invite'))}#{text}"})


class OneInviteLink(InCollection):
    also = (409,)
    tag = "collections"

    @call("Revoke an invitation link")
    def delete(self) -> None:
        """The link stops working immediately. People who joined with it stay members."""
        invite_links.revoke(self.one(self.collection.invite_links.all(), "invitation link"), actor=self.user)


def once(body: dict[str, Any]) -> Response:
    """Return a response with a secret, which nothing may store."""
    return Response(body, status=201, headers={"Cache-Control": "no-store"})


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
        source="days", default=ApiToken.USUAL_DAYS, min_value=1, max_value=ApiToken.MOST_DAYS
    )


class Owned(Endpoint):
    """The user's own tokens. A token cannot create or list tokens, so a leaked token cannot create others."""

    authentication_classes = [PasswordAuthentication, SessionAuthentication]
    serializer_class = Token
    queryset = ApiToken.objects.all()
    also = (429,)
    tag = "tokens"

    def own_tokens(self) -> QuerySet[ApiToken]:
        """Return the valid tokens of the caller."""
        mine = ApiToken.objects.filter(user_id=self.request.user.pk, revoked_at__isnull=True)
        return mine.filter(expires_at__gt=timezone.now())


@listed("List my tokens", "Return the valid tokens, without their secrets.")
class Tokens(Listed, Owned):
    returns_secret = True
    filters = {"name": "name"}
    ordering = {name: name for name in ("name", "created_at", "expires_at", "last_used_at")}

    def rows(self) -> QuerySet[ApiToken]:
        return self.own_tokens()

    @call(
        "Create a token",
        FreshToken,
        request=NewToken,
        status=201,
        example=("A build", {"name": "nightly build", "scopes": ["read"]}),
    )
    def post(self) -> Response:
        """This requires basic authentication, or a login within the last 10 minutes (otherwise 403 `log_in_again`)."""
        if not isinstance(self.request.successful_authenticator, PasswordAuthentication):
            tokens.check_recent_login(self.request)
        row, text = tokens.make_token(self.user, **self.read_body(NewToken))
        return once({**Token(row).data, "token": text})


class OneToken(Owned):
    @call("Revoke a token")
    def delete(self) -> None:
        """The token stops working immediately."""
        row = access.existing(self.own_tokens().filter(uuid=self.kwargs["uuid"]), "You have no such token.")
        tokens.revoke_token(row, actor=self.user)
