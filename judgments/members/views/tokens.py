"""Page of the user's API tokens."""

from __future__ import annotations

import shlex
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from judgments.members import account_log, login_limits, recent_login
from judgments.members import tokens as verbs
from judgments.members.forms import TokenForm
from judgments.models import ApiToken, Membership, Round
from judgments.web import access


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
        with login_limits.attempt(self.request, user.get_username(), account_log.TOKENS):
            if not user.check_password(password):
                raise forms.ValidationError("Incorrect password.")
        return password


@login_required
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def token_list(request: HttpRequest) -> HttpResponse:
    form, text, made = _form(request), "", None
    if request.method == "POST" and form.is_valid():
        with form.telling():
            cleaned = {name: form.cleaned_data[name] for name in ("name", "scopes", "days")}
            # Shown only in the response to the POST: not stored in the session or a message, nor shown after a reload.
            made, text = verbs.make_token(request.user, **cleaned)
            if "password" in form.cleaned_data:
                recent_login.note(request)
            form = TokenForm()
    context = {
        "form": form,
        "made": made,
        "text": text,
        "commands": commands(request, made, text) if made else [],
        "tokens": ApiToken.objects.filter(user=request.user, revoked_at__isnull=True),
    }
    return render(request, "judgments/members/tokens.html", context, status=form.status)


def _form(request: HttpRequest) -> TokenForm:
    data = request.POST or None
    return TokenForm(data) if recent_login.is_recent(request) else PasswordTokenForm(data, request=request)


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


@login_required
@require_POST
def revoke(request: HttpRequest, uuid: str) -> HttpResponse:
    token = ApiToken.objects.filter(user=request.user, uuid=uuid).first()
    if token is None:
        raise Http404
    verbs.revoke_token(token, actor=request.user)
    messages.success(request, f"The token {token.name} was revoked.")
    return redirect("tokens")
