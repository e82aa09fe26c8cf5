"""Pages of an account: log in, log out, change one's password, and manage one's API tokens."""

from __future__ import annotations

import shlex
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from assay.core.errors import Busy, TooMany
from judgments.members import login_limits
from judgments.members import tokens as verbs
from judgments.models import ApiToken, Membership, Round, User
from judgments.web import access
from judgments.web.error_responses import headers_of, status_of
from judgments.web.forms import AssayForm
from judgments.web.pages import finish, form_page, post_action


class TokenForm(AssayForm):
    name = forms.CharField(max_length=100, help_text="The program that will use the token, for example: nightly build.")
    scopes = forms.MultipleChoiceField(
        label="Permissions",
        choices=[(value, f"{value}: {title}") for value, title in ApiToken.Scope.choices],
        initial=[ApiToken.Scope.READ],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.TypedChoiceField(
        label="Expires after",
        coerce=int,
        choices=[(7, "7 days"), (30, "30 days"), (90, "90 days"), (180, "180 days"), (365, "365 days")],
        initial=ApiToken.USUAL_DAYS,
        required=False,
        empty_value=ApiToken.USUAL_DAYS,
    )


class PasswordTokenForm(TokenForm):
    """Form for a new token; the password is required if the login is too long ago."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        help_text="You logged in more than 10 minutes ago.",
    )

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        user: Any = self.request.user
        with login_limits.attempt(self.request, user.get_username(), login_limits.TOKENS):
            if not user.check_password(password):
                raise forms.ValidationError("Incorrect password.")
        return password


@form_page
@never_cache
@sensitive_post_parameters("password")
def token_list(request: HttpRequest) -> HttpResponse:
    data, text, made = request.POST or None, "", None
    form = TokenForm(data) if verbs.is_recent(request) else PasswordTokenForm(data, request=request)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            cleaned = {name: form.cleaned_data[name] for name in ("name", "scopes", "days")}
            # Shown only in the response to the POST: not stored in the session or a message, nor shown after a reload.
            made, text = verbs.make_token(request.user, **cleaned)
            if "password" in form.cleaned_data:
                verbs.note_password(request)
            form = TokenForm()
    context = {
        "form": form,
        "made": made,
        "text": text,
        "commands": commands(request, made, text) if made else [],
        "tokens": ApiToken.objects.filter(user=request.user, revoked_at__isnull=True),
    }
    return render(request, "judgments/members/tokens.html", context, status=form.status)


def commands(request: HttpRequest, token: ApiToken, text: str) -> list[tuple[str, str]]:
    """Return shell commands that use the token: a description of each, and the command."""
    api = request.build_absolute_uri("/api/v1/")
    header = f"-H {shlex.quote(f'Authorization: Bearer {text}')}"
    call = f"curl --fail-with-body {header}"
    lines = []
    if verbs.covers(token, ApiToken.Scope.READ):
        lines.append(("List your collections", f"{call} {api}collections/"))
    staff = Membership.objects.filter(user=token.user, role__in=access.STAFF).select_related("collection").first()
    if staff and verbs.covers(token, ApiToken.Scope.WRITE):
        runs = f"{api}collections/{staff.collection.slug}/runs/"
        line = f"{call} -F file=@bm25.run -F name=bm25 {runs}"
        lines.append((f"Push the run in the file bm25.run to {staff.collection}", line))
    round_ = Round.objects.open_to(token.user).first()
    if round_ and verbs.covers(token, ApiToken.Scope.RATE):
        lines.append((f"Get a pair to rate in {round_}", f"{call} -X POST '{api}rounds/{round_.uuid}/batch/?size=1'"))
    return lines


@post_action
def revoke(request: HttpRequest, uuid: str) -> HttpResponse:
    token = get_object_or_404(ApiToken, user=request.user, uuid=uuid)
    verbs.revoke_token(token, actor=request.user)
    return finish(request, f"The token {token.name} was revoked.", "tokens")


class LoginForm(AuthenticationForm):
    """Form for user name and password; after several wrong passwords, the next attempt has to wait."""

    error_messages = {
        "invalid_login": "Incorrect user name or password. Both are case-sensitive.",
        "inactive": "This account is disabled. Ask an administrator.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix = ""
        self.fields["username"].label = "User name"

    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("username")
        if not name or not self.cleaned_data.get("password"):
            return self.cleaned_data  # the password is not checked
        with login_limits.attempt(self.request, name, login_limits.LOG_IN):
            return super().clean()


class Login(LoginView):
    """The login page; a form with errors gets status 422."""

    form_class = LoginForm
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().post(request, *args, **kwargs)
        except (TooMany, Busy) as error:
            form = LoginForm(request, initial={"username": request.POST.get("username", "")})
            context = self.get_context_data(form=form, wait=str(error))
            return self.render_to_response(context, status=status_of(error), headers=headers_of(error))

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)


class Logout(LogoutView):
    """Log out, also from the admin."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if isinstance(request.user, User):
            login_limits.record_logout(request.user, login_limits.address_of(request))
        return super().post(request, *args, **kwargs)


class PasswordForm(PasswordChangeForm):
    """Form to change one's own password, with the same limit on wrong passwords as the login."""

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix, self.request = "", request

    def clean_old_password(self) -> str:
        with login_limits.attempt(self.request, self.user.get_username(), login_limits.OLD_PASSWORD):
            return super().clean_old_password()


class Password(PasswordChangeView):
    """Page to change one's own password, which ends the user's other sessions."""

    form_class = PasswordForm
    template_name = "registration/password.html"
    success_url = reverse_lazy("home")

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(
            self.request,
            "Your password was changed. Other browsers have to log in again, and your API tokens are revoked.",
        )
        with transaction.atomic():
            login_limits.record_password_change(form.user, actor=form.user)
            return super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)
