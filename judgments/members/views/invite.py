"""Invitation link page: join with a new account or an existing one.

The page's script reads the code after the ``#`` of the address and sends it by POST. From then on the session holds
its hash, so that a login, a reload and the form need no code in any address.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.forms import UserCreationForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from assay.core.errors import AssayError, NotValid, TooMany
from judgments.members import invite_links, login_limits
from judgments.members.tokens import digest
from judgments.models import InviteLink, Round, User

SESSION_KEY = "invite_link"


class AccountForm(UserCreationForm):
    """Form for the user name and the password of a new account."""

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
    messages.success(request, f"You are now a rater in {link.collection.name}.")
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
