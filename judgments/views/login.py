"""Who are you?"""

from __future__ import annotations

import hashlib
from typing import Any

from django.contrib import messages
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.urls import reverse_lazy

MOST_TRIES = 10
REST_SECONDS = 600


class LoginForm(AuthenticationForm):
    """Name and password, with a rest after many wrong ones from the same place."""

    error_messages = {
        "invalid_login": "Name and password do not fit. Check capital letters.",
        "inactive": "This account is switched off. Ask an administrator.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix = ""
        self.fields["username"].label = "User name"

    def clean(self) -> dict[str, Any]:
        key = self._key()
        if cache.get(key, 0) >= MOST_TRIES:
            raise ValidationError(f"Too many wrong passwords. Try again in {REST_SECONDS // 60} minutes.", code="rest")
        try:
            return super().clean()
        except ValidationError:
            # add() first, so that the rest ends a fixed time after the first try and not after the last.
            cache.add(key, 0, REST_SECONDS)
            cache.incr(key)
            raise

    def _key(self) -> str:
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        name = str(self.cleaned_data.get("username", "")).casefold()
        return f"login:{hashlib.sha256(f'{address} {name}'.encode()).hexdigest()}"


class Login(LoginView):
    """The log-in page; a form with errors is answered with 422."""

    form_class = LoginForm
    redirect_authenticated_user = True

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)


class PasswordForm(PasswordChangeForm):
    """One's own password, told as the other forms tell things."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix = ""


class Password(PasswordChangeView):
    """The page to change one's own password; other sessions of the person end."""

    form_class = PasswordForm
    template_name = "registration/password.html"
    success_url = reverse_lazy("home")

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, "Your password is changed. Other browsers have to log in again.")
        return super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)
