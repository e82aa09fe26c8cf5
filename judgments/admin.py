"""Django admin: the data that an operator of the server may view and change outside the pages.

Operators edit users here. Collections and memberships change through the same functions as on the pages, so that each
change is in the audit trail. Past events are read-only, and grades are not shown: an operator may also be a rater, and
the pages control which grades a rater may see.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from assay.core.errors import AssayError
from judgments.members import collections, grants, login_limits, tokens
from judgments.members.views.account import LoginForm
from judgments.models import (
    ApiToken,
    AuditRow,
    Collection,
    Grant,
    GuidelinesVersion,
    Job,
    Judgment,
    Membership,
    Role,
    Round,
    Snapshot,
    Upload,
    User,
    audit,
)

admin.site.site_header = admin.site.site_title = "Assay administration"
admin.site.index_title = "Server"


class OperatorLogin(LoginForm, AdminAuthenticationForm):
    """The login form of operators, with the same delay after repeated wrong passwords as the login page."""


admin.site.login_form = OperatorLogin


class UndeletableAdmin(admin.ModelAdmin):
    """Base class for rows that cannot be deleted here, because this would delete other rows."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(UndeletableAdmin):
    """Base class for rows that can only be viewed."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ListOnlyAdmin(ReadOnlyAdmin):
    """Base class for rows whose list shows every field that operators may see."""

    list_display_links = None

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_view_permission(request)

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """Return whether a filter is offered; other filters would let a reader guess hidden values."""
        return lookup.removesuffix("__exact") in self.list_filter


class AuditedAdmin(admin.ModelAdmin):
    """Base class for rows whose changes are in the audit trail, with the previous values."""

    recorded: tuple[str, ...] = ()  # values of columns; for relations, the names of the related rows

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        form.before = self._state(self.model.objects.get(pk=obj.pk)) if change else {}
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        differing = audit.changed(form.before, self._state(form.instance))
        if differing["after"]:
            self._record(request, form.instance, "changed" if change else "added", **differing)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self._record(request, obj, "deleted", before=self._state(obj))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for obj in queryset:
            self.delete_model(request, obj)

    def _state(self, obj: Any) -> dict[str, Any]:
        state: dict[str, Any] = {}
        for name in self.recorded:
            value = getattr(obj, name)
            state[name] = sorted(map(str, value.all())) if hasattr(value, "all") else value
        return state

    def _record(self, request: HttpRequest, obj: Any, act: str, **detail: Any) -> None:
        what = self.model._meta.verbose_name
        changed = ", ".join(detail.get("after", {})).replace("_", " ") if act == "changed" else ""
        sentence = f"{request.user} {act} {f'{changed} of ' if changed else ''}the {what} {obj}"
        verb = f"accounts.{act}"
        audit.record(verb, sentence, actor=request.user, collection=None, target=obj, **detail)


@admin.register(User)
class Users(AuditedAdmin, UserAdmin):
    """Accounts. Users who leave are made inactive; their judgments stay under their name."""

    list_display = ("username", "email", "is_active", "is_staff", "can_create_collections", "last_login")
    fieldsets = (*(UserAdmin.fieldsets or ()), ("Collections", {"fields": ("can_create_collections",)}))
    recorded = ("username", "email", "is_active", "is_staff", "is_superuser")
    recorded += ("can_create_collections", "groups", "user_permissions")

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        # Find the account as Django does, because a URL can spell its key in several ways.
        account = self.get_object(request, unquote(id))
        hashes = User.objects.filter(pk=account.pk if account else 0).values_list("password", flat=True)
        before = hashes.first()
        with transaction.atomic():
            response = super().user_change_password(request, id, form_url)
            if account and hashes.first() != before:
                login_limits.record_password_change(account, actor=request.user)
        return response

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


admin.site.unregister(Group)


@admin.register(Group)
class Groups(AuditedAdmin, GroupAdmin):
    recorded = ("name", "permissions")


@admin.register(Collection)
class Collections(UndeletableAdmin):
    list_display = ("name", "slug", "created_by", "created_at")
    search_fields = ("name", "slug")
    fields = ("slug", "name", "description", "embedding_changed_at", "created_by", "created_at")
    readonly_fields = ("slug", "created_by", "created_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Collection, form: Any, change: bool) -> None:
        names = ("name", "description", "embedding_changed_at")
        before = Collection.objects.get(pk=obj.pk)  # the function itself writes the audit row
        collections.update_collection(before, actor=request.user, **{name: getattr(obj, name) for name in names})


@admin.register(Membership)
class Memberships(admin.ModelAdmin):
    list_display = ("user", "collection", "role", "created_at")
    list_filter = ("role", "collection")
    search_fields = ("user__username", "collection__slug")
    autocomplete_fields = ("user", "collection")
    actions = None  # one at a time, each with its own audit row

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("user", "collection") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        """Refuse to delete the last lead, because no one could manage the collection."""
        if obj is None or obj.role != Role.LEAD:
            return super().has_delete_permission(request, obj)
        leads = Membership.objects.filter(collection=obj.collection, role=Role.LEAD)
        return leads.count() > 1 and super().has_delete_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        if not change:
            made = collections.add_member(
                obj.collection, actor=request.user, username=obj.user.get_username(), role=obj.role
            )
            obj.pk = made.pk
            return
        try:
            collections.change_role(Membership.objects.get(pk=obj.pk), actor=request.user, role=obj.role)
        except AssayError as error:
            self.message_user(request, f"Nothing was changed: {error}", messages.ERROR)

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        collections.remove_member(obj, actor=request.user)


class GrantForm(forms.ModelForm):
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        try:
            cleaned["value"] = grants.checked(cleaned.get("kind", ""), cleaned.get("value", ""))
        except AssayError as error:
            self.add_error("value", str(error))
        return cleaned


@admin.register(Grant)
class Grants(admin.ModelAdmin):
    """The hosts, directories and models of the server that a collection may use."""

    form = GrantForm
    list_display = ("collection", "kind", "value", "created_by", "created_at")
    list_filter = ("kind", "collection")
    autocomplete_fields = ("collection",)
    actions = None  # one at a time, each with its own audit row

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Grant, form: Any, change: bool) -> None:
        obj.pk = grants.grant(obj.collection, kind=obj.kind, value=obj.value, actor=request.user).pk

    def delete_model(self, request: HttpRequest, obj: Grant) -> None:
        grants.revoke(obj, actor=request.user)


@admin.register(ApiToken)
class ApiTokens(ReadOnlyAdmin):
    list_display = ("name", "user", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at")
    search_fields = ("name", "user__username")
    exclude = ("digest",)
    actions = ("revoke",)

    @admin.action(description="Revoke selected tokens", permissions=["view"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        for token in queryset.filter(revoked_at__isnull=True):
            tokens.revoke_token(token, actor=request.user)


@admin.register(Judgment)
class Judgments(ListOnlyAdmin):
    """Judgments without their grades: who judged, when and how fast."""

    list_display = ("created_at", "rater", "round", "state", "surplus", "seconds_active")
    list_filter = ("state", "surplus")
    list_select_related = ("rater", "pair__round")

    @admin.display(description="round")
    def round(self, row: Judgment) -> str:
        return str(row.pair.round)


admin.site.register(
    AuditRow,
    ReadOnlyAdmin,
    list_display=("at", "sentence", "actor", "collection", "verb"),
    list_filter=("verb",),
    search_fields=("sentence",),
    list_select_related=("actor", "collection"),
)
admin.site.register(
    Job,
    ReadOnlyAdmin,
    list_display=("title", "kind", "state", "attempts", "created_by", "created_at", "finished_at"),
    list_filter=("state", "kind"),
)
admin.site.register(
    Round,
    ReadOnlyAdmin,
    list_display=("name", "collection", "state", "ratings_per_pair", "overlap", "created_at", "opened_at"),
    list_filter=("state",),
    list_select_related=("collection",),
)
# The hash of the labels is hidden, because a few labels can be guessed from it by trying all grades.
admin.site.register(
    Snapshot,
    ListOnlyAdmin,
    list_display=("name", "collection", "rule", "created_by", "created_at"),
    list_select_related=("collection", "created_by"),
)
admin.site.register(
    Upload,
    ReadOnlyAdmin,
    list_display=("filename", "kind", "collection", "bytes", "created_by", "created_at", "stored_at"),
    list_filter=("kind",),
    exclude=("preview",),
    list_select_related=("collection", "created_by"),
)
# Without the text, which can reveal grades; the pages control who may read it.
admin.site.register(
    GuidelinesVersion,
    ListOnlyAdmin,
    list_display=("number", "collection", "created_by", "created_at"),
    list_select_related=("collection", "created_by"),
)
