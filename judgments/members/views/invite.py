"""Invitation link page: join with a new account or an existing one.

The code comes by POST alone: the page's script takes it from behind the ``#`` of the address. From then on the
session holds its hash, so that a log-in in between, a reload and the form itself need no code in any address.
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
    """A name and a password of one's own."""

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
    """One address for all: the code, then the form, then the first query."""
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
    """The code as it was sent, or the whole link where somebody pasted it."""
    hashed = digest(request.POST["code"].strip().rpartition("#")[2])
    if invite_links.opened(hashed) is None:
        return _opens_nothing(request)
    request.session[SESSION_KEY] = hashed
    return redirect("invite")


def _opens_nothing(request: HttpRequest) -> HttpResponse:
    """Whoever tries codes rests; nobody else does, since behind one address may be an office, or all there are."""
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
    # A name that is taken says that somebody has it: so many of these are told by one link, wherever one asks from.
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
    messages.success(request, f"You are a rater of {link.collection.name} now.")
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
