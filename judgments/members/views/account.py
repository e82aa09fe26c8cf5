"""Pages to log in, log out and change one's password."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse_lazy

from assay.core.errors import Busy, TooMany
from judgments.members import account_log, login_limits
from judgments.models import User
from judgments.web.middleware import headers_of, status_of


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
        with login_limits.attempt(self.request, name, account_log.LOG_IN):
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
            account_log.record_logout(request.user, login_limits.address_of(request))
        return super().post(request, *args, **kwargs)


class PasswordForm(PasswordChangeForm):
    """Form to change one's own password, with the same limit on wrong passwords as the login."""

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix, self.request = "", request

    def clean_old_password(self) -> str:
        with login_limits.attempt(self.request, self.user.get_username(), account_log.OLD_PASSWORD):
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
            account_log.record_password_change(form.user, actor=form.user)
            return super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)
