"""Pages for invitation links: leads create and revoke them, and a person opens one to join."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.forms import UserCreationForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from assay.core.errors import AssayError, NotValid, TooMany
from judgments.members import invite_links, login_limits
from judgments.members.tokens import digest
from judgments.models import Collection, InviteLink, Role, Round, User
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import state
from judgments.web.forms import AssayForm
from judgments.web.lists import Listing, answer
from judgments.web.pages import errors_as_messages, form_page, post_action

SESSION_KEY = "invite_link"


class AccountForm(UserCreationForm):
    class Meta(UserCreationForm.Meta):
        model = User
        fields = ("username",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)
        self.fields["username"].label = "User name"
        self.fields["username"].help_text = "Leads see it; other raters see a pseudonym."
        self.fields["username"].error_messages["unique"] = invite_links.TAKEN
        self.fields["username"].widget.attrs.pop("autofocus", None)
        self.fields[
            "password1"
        ].help_text = "At least eight characters, not similar to your name and not a common password."
        self.fields["password2"].label, self.fields["password2"].help_text = "Repeat the password", ""

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=name).exists():
            self.add_error("username", invite_links.TAKEN)
        return name


@never_cache
@sensitive_post_parameters("code", "password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def invite(request: HttpRequest) -> HttpResponse:
    """Show the form for the code, then the form for the account, then the first query."""
    invite_links.switched_on()
    if request.method != "POST":
        return _page(request, _opened(request))
    return _take(request) if "code" in request.POST else _come_in(request)


def _page(
    request: HttpRequest, link: InviteLink | None, form: AccountForm | None = None, message: str = "", status: int = 200
) -> HttpResponse:
    context = {"link": link, "form": form or AccountForm(), "message": message}
    return render(request, "judgments/members/invite.html", context, status=status)


def _take(request: HttpRequest) -> HttpResponse:
    """Read the submitted code, or extract it from a pasted link."""
    hashed = digest(request.POST["code"].strip().rpartition("#")[2])
    if invite_links.opened(hashed) is None:
        return _opens_nothing(request)
    request.session[SESSION_KEY] = hashed
    return redirect("invite")


def _opens_nothing(request: HttpRequest) -> HttpResponse:
    """Reject an unknown code; only clients that try such codes are limited, since many users may share an address."""
    request.session.pop(SESSION_KEY, None)
    try:
        login_limits.reserve({login_limits.key_of("code", login_limits.address_of(request)): login_limits.INVITATION})
    except TooMany as error:
        return _wait(request, None, error)
    return _page(request, None, message=invite_links.OPENS_NOTHING, status=422)


def _come_in(request: HttpRequest) -> HttpResponse:
    link = _opened(request)
    if link is None:
        return _opens_nothing(request)
    # An error about a taken name reveals that the account exists, so each link allows only a few, from any address.
    names = {login_limits.key_of("names", link.digest): login_limits.INVITATION}
    try:
        if request.user.is_authenticated:
            invite_links.join(link.digest, user=request.user)
            return _inside(request, link)
        login_limits.reserve(names)
        form = AccountForm(request.POST)
        if form.is_valid():
            account = form.cleaned_data
            user, link = invite_links.accept(link.digest, username=account["username"], password=account["password1"])
            login(request, user, backend="django.contrib.auth.backends.ModelBackend")
            return _inside(request, link)
    except TooMany as error:
        return _wait(request, link, error)
    except NotValid as error:
        return _page(request, link, message=str(error), status=422)
    except AssayError as error:
        return _page(request, _opened(request), message=str(error), status=409)
    if "username" not in form.errors:
        login_limits.refund(names)
    return _page(request, link, form, status=422)


def _inside(request: HttpRequest, link: InviteLink) -> HttpResponse:
    request.session.pop(SESSION_KEY, None)
    messages.success(request, f"You are now a member of {link.collection.name}.")
    if link.round is not None and link.round.state == Round.State.OPEN:
        return redirect("rate", link.round.uuid)
    return redirect("home")


def _opened(request: HttpRequest) -> InviteLink | None:
    hashed = request.session.get(SESSION_KEY)
    return invite_links.opened(hashed) if hashed else None


def _wait(request: HttpRequest, link: InviteLink | None, error: TooMany) -> HttpResponse:
    response = _page(request, link, message=str(error), status=429)
    response.headers["Retry-After"] = str(error.retry_after)
    return response


class LinkForm(AssayForm):
    meant_for = forms.CharField(
        label="For (optional)",
        required=False,
        max_length=100,
        help_text="A name for this link. Only your list of links shows it.",
    )
    round_ = forms.ModelChoiceField(
        Round.objects.none(),
        label="Round",
        required=False,
        to_field_name="uuid",
        empty_label="no round yet",
    )
    role = forms.ChoiceField(choices=Role.choices, initial=Role.RATER)
    days = forms.IntegerField(
        label="Days until the link expires",
        min_value=1,
        max_value=invite_links.MOST_DAYS,
        initial=invite_links.USUAL_DAYS,
    )

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["round_"].queryset = collection.rounds.exclude(state=Round.State.CLOSED)


@form_page.of_collection(access.LEADS)
@never_cache
def link_list(request: HttpRequest, collection: Collection) -> HttpResponse:
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


@post_action.of_collection(access.LEADS)
def revoke(request: HttpRequest, collection: Collection, uuid: str) -> HttpResponse:
    link = access.existing(collection.invite_links.filter(uuid=uuid), "This collection has no such link.")
    with errors_as_messages(request):
        invite_links.revoke(link, actor=request.user)
        messages.success(request, "Link revoked.")
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
            return "unused"
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
            Column("role", "Role", order="role"),
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
