"""Page and API routes of members."""

from django.urls import path

from judgments.members import api
from judgments.members.views import account, invite_links, members
from judgments.members.views import invite_links as invite
from judgments.members.views import members as collections
from judgments.members.views import members as invitations

urlpatterns = [
    path("invite/", invite.invite, name="invite"),
    path("tokens/", account.token_list, name="tokens"),
    path("tokens/<uuid:uuid>/revoke/", account.revoke, name="token_revoke"),
    path("c/new/", collections.new, name="collection_new"),
    path("c/<slug:slug>/settings/", collections.collection_settings, name="collection_settings"),
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
    path("tokens/", api.Tokens.as_view()),
    path("tokens/<uuid:uuid>/", api.OneToken.as_view()),
    path("collections/", api.Collections.as_view()),
    path("collections/<slug:slug>/", api.OneCollection.as_view()),
    path("invitations/", api.MyInvitations.as_view()),
    path("invitations/<uuid:uuid>/", api.MyOneInvitation.as_view()),
    path("collections/<slug:slug>/invitations/", api.Invitations.as_view()),
    path("collections/<slug:slug>/invitations/<uuid:uuid>/", api.OneInvitation.as_view()),
    path("collections/<slug:slug>/members/", api.Members.as_view()),
    path("collections/<slug:slug>/members/<str:username>/", api.OneMember.as_view()),
    path("collections/<slug:slug>/invite-links/", api.InviteLinks.as_view()),
    path("collections/<slug:slug>/invite-links/<uuid:uuid>/", api.OneInviteLink.as_view()),
]
