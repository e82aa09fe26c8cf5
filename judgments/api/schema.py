"""OpenAPI schema: the authentication schemes, the error body, and what each call adds to the document."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_bearer_security_scheme_object
from rest_framework import serializers

# What can happen to any call; a view names what is its own (409, 410, 413, 503) in `also`.
ALWAYS = {"401": "Nobody is logged in.", "403": "The role or the token's scopes do not cover this."}
TOLD = {
    "400": "Not valid; `fields` says what, field by field.",
    "404": "There is nothing at this address, or you are not a member of its collection.",
    "409": "Collides with what is there.",
    "410": "The round is closed.",
    "413": "Larger than the server takes.",
    "429": "Too many tries; wait.",
    "503": "Too many do the same at the moment; `Retry-After` says when to try again.",
}


class ErrorBody(serializers.Serializer):
    """What went wrong."""

    code = serializers.CharField(help_text="One word for programs, such as `not_valid`.")
    message = serializers.CharField(help_text="A whole sentence for people.")
    fields = serializers.DictField(child=serializers.CharField(), help_text="The same said field by field.")


class Error(serializers.Serializer):
    """Every error has this shape."""

    error = ErrorBody()


class BearerScheme(OpenApiAuthenticationExtension):
    """``Authorization: Bearer <token>``."""

    target_class = "judgments.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return build_bearer_security_scheme_object("Authorization", "Bearer")


class PasswordScheme(OpenApiAuthenticationExtension):
    """Name and password, only where a token is made."""

    target_class = "judgments.api.authentication.PasswordAuthentication"
    name = "password"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "basic"}


class EndpointSchema(AutoSchema):
    """Adds to each call the errors that it can be answered with, and groups calls by what they are about."""

    def get_tags(self) -> list[str]:
        named = getattr(self.view, "tag", "")
        return [named] if named else super().get_tags()

    def _get_response_bodies(self, direction: str = "response") -> dict[str, Any]:
        bodies = super()._get_response_bodies(direction)
        for status, told in self._errors().items():
            bodies.setdefault(status, self._error_body(told))
        return bodies

    def _errors(self) -> dict[str, str]:
        statuses = [*(["404"] if "{" in self.path else []), *(["400"] if self.method in ("POST", "PATCH") else [])]
        statuses += [str(status) for status in getattr(self.view, "also", ())] if self.method != "GET" else []
        return {**ALWAYS, **{status: TOLD[status] for status in statuses}}

    def _error_body(self, told: str) -> dict[str, Any]:
        reference = self.resolve_serializer(Error, "response").ref
        return {"description": told, "content": {"application/json": {"schema": reference}}}
