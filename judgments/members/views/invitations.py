"""Views to accept, decline or withdraw an invitation to a collection."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from assay.core.errors import AssayError
from judgments.members import invitations as verbs
from judgments.web import access


@login_required
@require_POST
def respond(request: HttpRequest, uuid: str) -> HttpResponse:
    """Accept or decline an invitation."""
    invitation = verbs.get(verbs.waiting_for(request.user), uuid)
    if "accept" not in request.POST:
        verbs.decline(invitation, actor=request.user)
        messages.success(request, f"You declined the invitation to {invitation.collection.name}.")
        return redirect("home")
    try:
        made = verbs.accept(invitation, actor=request.user)
        messages.success(request, f"You joined {invitation.collection.name} with the role {made.role}.")
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("home")


@login_required
@require_POST
def withdraw(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    invitation = verbs.get(collection.member_invitations.all(), uuid)
    verbs.withdraw(invitation, actor=request.user)
    messages.success(request, f"The invitation of {invitation.username} was withdrawn.")
    return redirect("members", collection.slug)
