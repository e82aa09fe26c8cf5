"""Page for leads to create, list and revoke invitation links."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from assay.core.errors import AssayError, NotFound
from judgments.members import invite_links
from judgments.models import Collection, InviteLink, Round
from judgments.web import access
from judgments.web.figures import state
from judgments.web.forms import AssayForm
from judgments.web.lists import Column, Listing, answer


class LinkForm(AssayForm):
    """Form for the recipient, the round and the expiry of a link."""

    meant_for = forms.CharField(
        label="For (optional)", required=False, max_length=100, help_text="A name for your list."
    )
    round_ = forms.ModelChoiceField(
        Round.objects.none(),
        label="Round",
        required=False,
        to_field_name="uuid",
        empty_label="no round yet",
    )
    days = forms.IntegerField(
        label="Days until it expires",
        min_value=1,
        max_value=invite_links.MOST_DAYS,
        initial=invite_links.USUAL_DAYS,
    )

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["round_"].queryset = collection.rounds.exclude(state=Round.State.CLOSED)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def link_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    invite_links.switched_on()
    round_uuid = request.GET.get("round", "")
    form, address, made = LinkForm(collection, request.POST or None, initial={"round_": round_uuid}), "", None
    if request.method == "POST" and form.is_valid():
        with form.telling():
            made, text = invite_links.make(collection, actor=request.user, **form.cleaned_data)
            # Shown only in the response to the POST: not stored in the session, not shown again after a reload.
            address = f"{request.build_absolute_uri(reverse('invite'))}#{text}"
            form = LinkForm(collection)
    rows = collection.invite_links.select_related("round", "created_by", "used_by", "collection")
    context = {"collection": collection, "form": form, "address": address, "made": made}
    return answer(
        request, _links(request, collection), rows, "judgments/members/invite_links.html", context, form.status
    )


@login_required
@require_POST
def revoke(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    link = collection.invite_links.filter(uuid=uuid).first()
    if link is None:
        raise NotFound("This collection has no such link.")
    try:
        invite_links.revoke(link, actor=request.user)
        messages.success(request, "Link revoked.")
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("invite_links", collection.slug)


def _links(request: HttpRequest, collection: Collection) -> Listing:
    """Return the list; unused links can be revoked."""
    waiting = set(invite_links.live(collection).values_list("pk", flat=True))

    def now(link: InviteLink) -> str:
        if link.used_at is not None:
            return f"used by {link.used_by}"
        if link.revoked_at is not None:
            return "revoked"
        if link.pk in waiting:
            return "waits"
        return "expired" if link.expires_at <= timezone.now() else "not valid"

    def shown(link: InviteLink) -> SafeString:
        return state("doing" if link.pk in waiting else "done" if link.used_at else "todo", now(link))

    def acts(link: InviteLink) -> SafeString:
        if link.pk not in waiting:
            return SafeString("")
        return render_to_string("judgments/members/_invite_link_acts.html", {"link": link}, request)

    return Listing(
        name="links",
        noun=("link", "links"),
        columns=(
            Column(
                "meant_for",
                "For",
                value=lambda link: link.meant_for or "anyone with the link",
                order="meant_for",
                head=True,
                style="clip",
            ),
            Column("round", "Round", value=lambda link: str(link.round or collection.name), style="clip"),
            Column("state", "State", value=now, show=shown, style="nowrap"),
            Column("expires_at", "Expires", order="expires_at", style="nowrap"),
            Column("acts", "Revoke", value=lambda link: "", show=acts),
            Column("created_by", "Created by", value=lambda link: str(link.created_by)),
            Column("created_at", "Created", order="created_at", style="nowrap"),
        ),
        search=("meant_for",),
        order="-created_at",
    )
