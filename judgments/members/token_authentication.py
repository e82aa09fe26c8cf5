"""API authentication and scopes: bearer tokens, and user name with password for the first token."""

from __future__ import annotations

from typing import Any

from rest_framework import authentication, permissions
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from judgments.members import account_log, login_limits, tokens
from judgments.models import ApiToken, User


class TokenAuthentication(authentication.BaseAuthentication):
    """``Authorization: Bearer <token>``; the first in the list, so that a missing login gives status 401."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        kind, _, text = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return None
        token = tokens.bearer(text.strip())
        if token is None:
            raise AuthenticationFailed(
                "This token is unknown, expired or revoked. Create a new token on the Tokens page."
            )
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="assay"'


class PasswordAuthentication(authentication.BasicAuthentication):
    """User name and password, with which a program gets its first token. Attempts are counted before the check."""

    www_authenticate_realm = "assay"

    def authenticate_credentials(self, userid: str, password: str, request: Request | None = None) -> Any:
        if "\0" in userid + password:  # no user has such a name, and PostgreSQL rejects the query
            raise AuthenticationFailed("Incorrect user name or password.")
        with login_limits.attempt(request, userid, account_log.API):
            return super().authenticate_credentials(userid, password, request)


class InScope(permissions.BasePermission):
    """A logged-in caller; a token also needs the scope of the view (``read`` or ``write`` by default)."""

    message = "This token does not have the scope for this call."

    def has_permission(self, request: Request, view: Any) -> bool:
        if not request.user or not request.user.is_authenticated:
            return False
        if not isinstance(request.auth, ApiToken):
            return True
        default = "read" if request.method in permissions.SAFE_METHODS else "write"
        return tokens.covers(request.auth, getattr(view, "scope", None) or default)
