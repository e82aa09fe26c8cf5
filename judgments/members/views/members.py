"""Pages of a collection: create it, change it, and manage its members and invitations."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import slugify

from judgments.documents import result_templates
from judgments.members import collections as verbs
from judgments.members import invitations
from judgments.models import Collection, Membership, Role
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.forms import AssayForm
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import errors_as_messages, finish, form_page, post_action


class CollectionForm(AssayForm):
    name = forms.CharField(max_length=120, help_text="For example: Outdoor shop, site search.")
    slug = forms.SlugField(
        label="Address (optional)",
        required=False,
        max_length=60,
        help_text="Letters, digits and hyphens. It is part of every link and can’t be changed later. Leave empty to "
        "derive it from the name.",
        error_messages={"invalid": "Use letters, digits and hyphens only, for example shop-search."},
    )
    description = forms.CharField(
        label="Description (optional)",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One or two sentences about the purpose of the collection.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not cleaned["slug"]:
            cleaned["slug"] = slugify(cleaned["name"])[:60].strip("-")
        return cleaned


class CollectionSettingsForm(AssayForm):
    name = forms.CharField(max_length=120)
    description = forms.CharField(
        label="Description (optional)", required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 3})
    )
    result_template = forms.CharField(
        label="Result template (optional)",
        required=False,
        max_length=result_templates.LONGEST,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "placeholder": result_templates.EXAMPLE}),
        help_text=f"Shows documents as your users see them. One line each for {', '.join(result_templates.PARTS)}; "
        "{name} is a field of the document, {text|160} its first 160 characters. Badges are separated by commas.",
    )
    license = forms.CharField(
        label="License of the labels (optional)",
        required=False,
        max_length=200,
        help_text="For example, CC-BY-4.0, or internal use only. It appears in the data card of new snapshots.",
    )
    embedding_changed_at = forms.DateTimeField(
        label="Embeddings last changed (optional)",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text="Assay cannot detect when the vector space changes. Enter the date (UTC) to flag older judgments.",
    )


ROLE_WORDS = {
    Role.RATER: "rater: grades assigned pairs and sees nothing else",
    Role.ENGINEER: "engineer: adds runs, evaluates, views agreement and snapshots",
    Role.LEAD: "lead: does everything, including managing members",
}


class MemberForm(AssayForm):
    username = forms.CharField(label="User name", max_length=150, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    role = forms.ChoiceField(choices=list(ROLE_WORDS.items()), initial=Role.RATER, widget=forms.RadioSelect)


@form_page
def new(request: HttpRequest) -> HttpResponse:
    access.check_may_create_collections(request.user)
    form = CollectionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            collection = verbs.create_collection(actor=request.user, **form.cleaned_data)
            return redirect("collection", collection.slug)
    return render(request, "judgments/members/collection_new.html", {"form": form}, status=form.status)


@form_page.of_collection(access.LEADS)
def collection_settings(request: HttpRequest, collection: Collection) -> HttpResponse:
    fields = ("name", "description", "result_template", "license", "embedding_changed_at")
    form = CollectionSettingsForm(request.POST or None, initial={name: getattr(collection, name) for name in fields})
    if request.method == "POST" and form.is_valid():
        with form.telling():
            verbs.update_collection(collection, actor=request.user, **form.cleaned_data)
            return finish(request, "Saved.", "collection_settings", collection.slug)
    examples = collection.documents.filter(stub=False)[:3] if collection.result_template else ()
    context = {"collection": collection, "form": form, "examples": examples}
    return render(request, "judgments/members/collection_settings.html", context, status=form.status)


@post_action
def respond(request: HttpRequest, uuid: str) -> HttpResponse:
    """Accept or decline an invitation."""
    invitation = invitations.get(invitations.waiting_for(request.user), uuid)
    if "accept" not in request.POST:
        invitations.decline(invitation, actor=request.user)
        return finish(request, f"You declined the invitation to {invitation.collection.name}.", "home")
    with errors_as_messages(request):
        made = invitations.accept(invitation, actor=request.user)
        messages.success(request, f"You joined {invitation.collection.name} with the role {made.role}.")
    return redirect("home")


@post_action.of_collection(access.LEADS)
def withdraw(request: HttpRequest, collection: Collection, uuid: str) -> HttpResponse:
    invitation = invitations.get(collection.member_invitations.all(), uuid)
    invitations.withdraw(invitation, actor=request.user)
    return finish(request, f"The invitation of {invitation.username} was withdrawn.", "members", collection.slug)


@form_page
def member_list(request: HttpRequest, slug: str) -> HttpResponse:
    roles = access.LEADS if request.method == "POST" else access.STAFF
    collection = access.collection_for(request.user, slug, roles)
    form = MemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            invitation = invitations.invite(collection, actor=request.user, **form.cleaned_data)
            message = f"{invitation.username} was invited as {invitation.role} and becomes a member after accepting."
            return finish(request, message, "members", collection.slug)
    rows = collection.memberships.select_related("user", "collection")
    context = {"collection": collection, "form": form, "by_link": settings.INVITE_LINKS}
    context["invitations"] = collection.member_invitations.select_related("created_by")
    return answer(request, _members(request, collection), rows, "judgments/members/members.html", context, form.status)


def _members(request: HttpRequest, collection: Collection) -> Listing:
    """Return the list; for a lead each role is a form."""

    def name(member: Membership) -> str | SafeString:
        mine = member.user_id == request.user.pk
        return format_html('{} <span class="badge">you</span>', member.user) if mine else str(member.user)

    def acts(member: Membership) -> SafeString:
        context = {"member": member, "roles": Role.choices}
        return render_to_string("judgments/members/_member_acts.html", context, request)

    def notes(member: Membership) -> SafeString:
        return render_to_string(
            "judgments/members/_member_notes.html", {"member": member, "notes": _fit(member)}, request
        )

    lead = access.role_in(request.user, collection) in access.LEADS
    return Listing(
        name="members",
        noun=("member", "members"),
        columns=(
            Column(
                "name",
                "Name",
                order="user__username",
                head=True,
                style="clip",
                value=lambda row: str(row.user),
                show=name,
            ),
            Column("role", "Role", order="role", show=acts if lead else None),
            Column("fit", "Languages, qualifications", value=_fit, show=notes if lead else None),
            Column("created_at", "Since", order="created_at", style="nowrap"),
        ),
        search=("user__username",),
        choices=(ChoiceFilter("role", "Role", "role", Role.choices),),
        order="name",
    )


def _fit(member: Membership) -> str:
    """Return a member's languages and qualifications as text."""
    notes = [", ".join(member.languages) or "any language", *member.qualifications]
    return "; ".join(notes)


@post_action.of_collection(access.LEADS)
def change(request: HttpRequest, collection: Collection, uuid: str) -> HttpResponse:
    rows = collection.memberships.select_related("user", "collection").filter(user__uuid=uuid)
    membership = access.existing(rows, "This person is not a member.")
    with errors_as_messages(request):
        messages.success(request, _change(request, membership))
    # A lead who gave up the role may no longer see the list.
    staff = access.role_in(request.user, collection) in access.STAFF
    return redirect("members", collection.slug) if staff else redirect("home")


def _change(request: HttpRequest, membership: Membership) -> str:
    if "note" in request.POST:
        notes = {name: request.POST.get(name, "").split(",") for name in ("languages", "qualifications")}
        noted = verbs.update_member_notes(membership, actor=request.user, **notes)
        return f"Saved languages and qualifications of {noted.user}."
    if "remove" in request.POST:
        verbs.remove_member(membership, actor=request.user)
        return f"{membership.user} is no longer a member. Their judgments are kept."
    changed = verbs.change_role(membership, actor=request.user, role=request.POST.get("role", ""))
    return f"{changed.user} now has the role {changed.role}."
