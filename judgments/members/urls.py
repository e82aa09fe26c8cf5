"""Page and API routes of members."""

from __future__ import annotations

from django.urls import path

from judgments.members.api import collections as collections_api
from judgments.members.api import invitations as invitations_api
from judgments.members.api import invite_links as invite_links_api
from judgments.members.api import members as members_api
from judgments.members.api import tokens as tokens_api
from judgments.members.views import collections, invitations, invite, invite_links, members, tokens

urlpatterns = [
    path("invite/", invite.invite, name="invite"),
    path("tokens/", tokens.token_list, name="tokens"),
    path("tokens/<uuid:uuid>/revoke/", tokens.revoke, name="token_revoke"),
    path("c/new/", collections.new, name="collection_new"),
    path("c/<slug:slug>/settings/", collections.settings, name="collection_settings"),
    path("c/<slug:slug>/members/", members.member_list, name="members"),
    # A list with a form on its page also answers at the URL of the form.
    path("c/<slug:slug>/members/new/", members.member_list, name="members_new"),
    path("c/<slug:slug>/members/<uuid:uuid>/", members.change, name="member_change"),
    path("invitations/<uuid:uuid>/", invitations.respond, name="member_invitation"),
    path(
        "c/<slug:slug>/members/invitations/<uuid:uuid>/withdraw/",
        invitations.withdraw,
        name="member_invitation_withdraw",
    ),
    path("c/<slug:slug>/members/links/", invite_links.link_list, name="invite_links"),
    path("c/<slug:slug>/members/links/<uuid:uuid>/revoke/", invite_links.revoke, name="invite_link_revoke"),
]

api_urlpatterns = [
    path("tokens/", tokens_api.Tokens.as_view()),
    path("tokens/<uuid:uuid>/", tokens_api.OneToken.as_view()),
    path("collections/", collections_api.Collections.as_view()),
    path("collections/<slug:slug>/", collections_api.OneCollection.as_view()),
    path("invitations/", invitations_api.MyInvitations.as_view()),
    path("invitations/<uuid:uuid>/", invitations_api.MyOneInvitation.as_view()),
    path("collections/<slug:slug>/invitations/", invitations_api.Invitations.as_view()),
    path("collections/<slug:slug>/invitations/<uuid:uuid>/", invitations_api.OneInvitation.as_view()),
    path("collections/<slug:slug>/members/", members_api.Members.as_view()),
    path("collections/<slug:slug>/members/<str:username>/", members_api.OneMember.as_view()),
    path("collections/<slug:slug>/invite-links/", invite_links_api.InviteLinks.as_view()),
    path("collections/<slug:slug>/invite-links/<uuid:uuid>/", invite_links_api.OneInviteLink.as_view()),
]
