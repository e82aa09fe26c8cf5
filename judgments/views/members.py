"""Who belongs to the collection, and in which role?"""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from judgments import access
from judgments import collections as verbs
from judgments.core.errors import AssayError, NotFound
from judgments.forms import MemberForm
from judgments.models import Collection, Membership, Role


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def member_list(request: HttpRequest, slug: str) -> HttpResponse:
    roles = access.LEADS if request.method == "POST" else access.STAFF
    collection = access.collection_for(request.user, slug, roles)
    form = MemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            added = verbs.add_member(collection, actor=request.user, **form.cleaned_data)
            messages.success(request, f"{added.user} is {added.role} now.")
            return redirect("members", collection.slug)
    context = {
        "collection": collection,
        "members": collection.memberships.select_related("user"),
        "form": form,
        "roles": Role.choices,
    }
    return render(request, "judgments/members.html", context, status=form.status)


@login_required
@require_POST
def change(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    membership = _membership(collection, uuid)
    try:
        messages.success(request, _change(request, membership))
    except AssayError as error:
        messages.error(request, str(error))
    # A lead who stepped down may no longer see the list.
    staff = access.role_in(request.user, collection) in access.STAFF
    return redirect("members", collection.slug) if staff else redirect("home")


def _change(request: HttpRequest, membership: Membership) -> str:
    if "remove" in request.POST:
        verbs.remove_member(membership, actor=request.user)
        return f"{membership.user} is no longer a member. What they judged stays."
    changed = verbs.change_role(membership, actor=request.user, role=request.POST.get("role", ""))
    return f"{changed.user} is {changed.role} now."


def _membership(collection: Collection, uuid: str) -> Membership:
    membership = collection.memberships.select_related("user", "collection").filter(user__uuid=uuid).first()
    if membership is None:
        raise NotFound("This person is not a member.")
    return membership
