"""OpenAPI schema: the authentication schemes, the error body, and what each call adds to the document."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_bearer_security_scheme_object
from rest_framework import serializers

# Errors that any call can return; a view lists its further ones (409, 410, 413, 503) in `also`.
ALWAYS = {"401": "Authentication is required.", "403": "The role or the token's scopes do not permit this."}
ERROR_TEXTS = {
    "400": "The request is invalid; `fields` has one message per field.",
    "404": "Not found, or you are not a member of the collection.",
    "409": "Conflicts with the current state.",
    "410": "The round is closed.",
    "413": "The body exceeds the server's limit.",
    "429": "Too many attempts. Try again later.",
    "503": "Too many concurrent requests. `Retry-After` says when to try again.",
}


class ErrorBody(serializers.Serializer):
    """An error."""

    code = serializers.CharField(help_text="A code for programs, such as `not_valid`.")
    message = serializers.CharField(help_text="A complete sentence for people.")
    fields = serializers.DictField(child=serializers.CharField(), help_text="Messages by field.")


class Error(serializers.Serializer):
    """The body of every error."""

    error = ErrorBody()


class BearerScheme(OpenApiAuthenticationExtension):
    """``Authorization: Bearer <token>``."""

    target_class = "judgments.members.token_authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return build_bearer_security_scheme_object("Authorization", "Bearer")


class PasswordScheme(OpenApiAuthenticationExtension):
    """Basic authentication, only to create tokens."""

    target_class = "judgments.members.token_authentication.PasswordAuthentication"
    name = "password"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "basic"}


class EndpointSchema(AutoSchema):
    """Schema that adds the possible errors to each operation and groups operations by topic."""

    def get_tags(self) -> list[str]:
        named = getattr(self.view, "tag", "")
        return [named] if named else super().get_tags()

    def _get_response_bodies(self, direction: str = "response") -> dict[str, Any]:
        bodies = super()._get_response_bodies(direction)
        for status, description in self._errors().items():
            bodies.setdefault(status, self._error_body(description))
        return bodies

    def _errors(self) -> dict[str, str]:
        statuses = [*(["404"] if "{" in self.path else []), *(["400"] if self.method in ("POST", "PATCH") else [])]
        statuses += [str(status) for status in getattr(self.view, "also", ())] if self.method != "GET" else []
        return {**ALWAYS, **{status: ERROR_TEXTS[status] for status in statuses}}

    def _error_body(self, description: str) -> dict[str, Any]:
        reference = self.resolve_serializer(Error, "response").ref
        return {"description": description, "content": {"application/json": {"schema": reference}}}
