"""Pages of notices: the list, the preferences, the e-mail address, and the unsubscribe link."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from judgments.events.kinds import KINDS
from judgments.models import Notice
from judgments.notices import notices, preferences
from judgments.notices.preferences import Wish
from judgments.web.columns import Column
from judgments.web.forms import AssayForm
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import finish, form_page, get_page, post_action


def _list(request: HttpRequest) -> Listing:
    def text(row: Notice) -> SafeString:
        shown = format_html("{}", row.text) if row.read_at else format_html("<strong>{}</strong>", row.text)
        return SafeString(shown)

    def mark(row: Notice) -> SafeString | str:
        if row.read_at:
            return ""
        return render_to_string("judgments/notices/_mark_read.html", {"notice": row}, request)

    return Listing(
        name="notices",
        noun=("notice", "notices"),
        columns=(
            Column("text", "Notice", head=True, style="wraps", show=text, url=("notice", "uuid")),
            Column("collection", "Collection", style="clip", value="event.collection.name"),
            Column("kind", "Kind", value=lambda row: KINDS[row.event.kind].title),
            Column("created_at", "Time", order="created_at", style="nowrap"),
            Column("read", "Read", style="nowrap", value=lambda row: row.read_at is not None, show=mark),
        ),
        search=("text", "event__collection__name"),
        choices=(
            ChoiceFilter(
                "state",
                "State",
                lambda rows, value: rows.filter(read_at__isnull=value == "unread"),
                [("unread", "unread"), ("read", "read")],
            ),
            ChoiceFilter("kind", "Kind", "event__kind", [(kind.name, kind.title) for kind in KINDS.values()]),
        ),
        order="-created_at",
        stacked=True,
    )


@get_page
def notice_list(request: HttpRequest) -> HttpResponse:
    context = {"unread": notices.unread(request.user)}
    return answer(request, _list(request), notices.shown(request.user), "judgments/notices/notices.html", context)


@get_page
def open_notice(request: HttpRequest, uuid: str) -> HttpResponse:
    """Open the page of a notice, which then counts as read."""
    notice = notices.get(request.user, uuid)
    if request.method == "GET":
        notices.mark_read(request.user, notice)
    return redirect(notice.page)


@post_action
def read(request: HttpRequest, uuid: str) -> HttpResponse:
    notices.mark_read(request.user, notices.get(request.user, uuid))
    return redirect("notices")


@post_action
def read_all(request: HttpRequest) -> HttpResponse:
    notices.mark_read(request.user)
    return redirect("notices")


class AddressForm(AssayForm):
    email = forms.EmailField(
        label="E-mail address",
        required=False,
        help_text="Assay sends a link to this address. Open it to confirm the address. Leave empty to remove it.",
    )


@form_page
def preferences_page(request: HttpRequest) -> HttpResponse:
    kinds = preferences.kinds_for(request.user)
    if request.method == "POST":
        wishes = {
            kind.name: Wish(f"app:{kind.name}" in request.POST, f"mail:{kind.name}" in request.POST) for kind in kinds
        }
        if not preferences.mail_is_set_up():
            # The page has no boxes for e-mail then.
            stored = preferences.of_user(request.user)
            wishes = {name: Wish(wish.in_app, stored[name].by_mail) for name, wish in wishes.items()}
        preferences.save(request.user, wishes)
        return finish(request, "Saved.", "notice_preferences")
    return _preferences(request, AddressForm(initial={"email": request.user.email}))


@post_action
def change_address(request: HttpRequest) -> HttpResponse:
    form = AddressForm(request.POST)
    if form.is_valid():
        address = form.cleaned_data["email"]
        with form.telling():
            if not address:
                preferences.set_address(request.user, "")
                messages.success(request, "Your e-mail address was removed.")
            elif address != request.user.email:
                preferences.request_address(request.user, address)
                messages.success(request, f"A link was sent to {address}. Open it to confirm the address.")
            return redirect("notice_preferences")
    return _preferences(request, form)


def _preferences(request: HttpRequest, form: AddressForm) -> HttpResponse:
    stored = preferences.of_user(request.user)
    context = {
        "kinds": [(kind, stored[kind.name]) for kind in preferences.kinds_for(request.user)],
        "form": form,
        "mails": preferences.mail_is_set_up(),
    }
    return render(request, "judgments/notices/preferences.html", context, status=form.status)


@form_page
def confirm_address(request: HttpRequest, token: str) -> HttpResponse:
    address = preferences.address_of(token, request.user)
    if request.method == "POST" and address:
        preferences.set_address(request.user, address)
        return finish(request, f"Notices will be sent to {address}.", "notice_preferences")
    status = 200 if address else 404
    return render(request, "judgments/notices/confirm_address.html", {"address": address}, status=status)


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """End e-mails without a login. Mail programs post to this address (RFC 8058), so it needs no CSRF token."""
    user = preferences.subscriber(token)
    done = request.method == "POST" and user is not None
    if done and user is not None:
        preferences.unsubscribe(user)
    context = {"known": user is not None, "done": done}
    return render(request, "judgments/notices/unsubscribe.html", context, status=200 if user else 404)
