"""Webhook pages: list, add and change webhooks, and their deliveries."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from judgments.events.kinds import KINDS, WEBHOOK_EVENTS
from judgments.members import grants
from judgments.models import Collection, Delivery, Webhook
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import state
from judgments.web.forms import AssayForm
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import errors_as_messages, finish, form_page, get_page, post_action
from judgments.webhooks import deliveries, webhooks
from judgments.webhooks.sending import LONGEST_ADDRESS


class WebhookForm(AssayForm):
    address = forms.CharField(
        max_length=LONGEST_ADDRESS,
        help_text="For example https://hooks.example.com/assay. Assay sends a POST request with JSON to it.",
        widget=forms.TextInput(attrs={"spellcheck": "false", "inputmode": "url"}),
    )
    description = forms.CharField(
        label="Description (optional)",
        required=False,
        max_length=200,
        help_text="For example: the team’s chat channel.",
    )
    events = forms.MultipleChoiceField(
        choices=[(name, f"{KINDS[name].title} ({name})") for name in WEBHOOK_EVENTS],
        widget=forms.CheckboxSelectMultiple,
    )


SHAPES = {Delivery.State.WAITING: "doing", Delivery.State.DELIVERED: "done", Delivery.State.FAILED: "fail"}


def _title(kind: str) -> str:
    return KINDS[kind].title if kind in KINDS else "Test"


def _works(hook: Webhook) -> SafeString:
    if not hook.active:
        return state("fail", "stopped by the server") if hook.stopped_because else state("todo", "off")
    return state("warn", "failing") if hook.failing_since else state("done", "on")


WEBHOOKS = Listing(
    name="webhooks",
    noun=("webhook", "webhooks"),
    columns=(
        Column(
            "name",
            "Webhook",
            order="description",
            head=True,
            style="clip",
            value=str,
            url=("webhook", "collection.slug", "uuid"),
        ),
        Column("address", "Address", order="address", style="clip"),
        Column("events", "Events", value=lambda row: ", ".join(_title(name) for name in row.events)),
        Column("active", "State", show=_works),
        Column("created_at", "Added", order="created_at", style="nowrap"),
    ),
    search=("address", "description"),
    order="created_at",
    stacked=True,
)


def _deliveries(request: HttpRequest, collection: Collection) -> Listing:
    def again(row: Delivery) -> SafeString | str:
        if row.state == Delivery.State.WAITING:
            return ""
        return render_to_string(
            "judgments/webhooks/_redeliver.html", {"collection": collection, "delivery": row}, request
        )

    return Listing(
        name="deliveries",
        noun=("delivery", "deliveries"),
        columns=(
            Column("event", "Event", order="event__kind", head=True, value=lambda row: _title(row.event.kind)),
            Column(
                "state",
                "State",
                order="state",
                value="state",
                show=lambda row: state(SHAPES[row.state], row.get_state_display()),
            ),
            Column("attempts", "Attempts", order="attempts", numeric=True),
            Column("status", "Status code", order="status", value=lambda row: row.status and str(row.status)),
            Column("created_at", "Created", order="created_at", style="nowrap"),
            Column("attempted_at", "Last attempt", order="attempted_at", style="nowrap"),
            Column("next_at", "Next attempt", order="next_at", style="nowrap"),
            Column("response", "Response", style="wraps small", value=lambda row: row.response or row.error),
            Column("again", "Redeliver", value=lambda row: "", show=again),
        ),
        search=("response", "error", "event__kind"),
        choices=(ChoiceFilter("state", "State", "state", [one for one in Delivery.State.choices if one[0] != "held"]),),
        order="-created_at",
        stacked=True,
    )


@get_page.of_collection(access.LEADS)
def webhook_list(request: HttpRequest, collection: Collection) -> HttpResponse:
    context = {"collection": collection, "hosts": grants.webhook_access(collection).hosts, "most": webhooks.MOST}
    rows = collection.webhooks.select_related("collection")
    return answer(request, WEBHOOKS, rows, "judgments/webhooks/webhooks.html", context)


@form_page.of_collection(access.LEADS)
def webhook_new(request: HttpRequest, collection: Collection) -> HttpResponse:
    form = WebhookForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            hook, secret = webhooks.add(collection, actor=request.user, **form.cleaned_data)
            return _secret(request, collection, hook, secret)
    context = {"collection": collection, "form": form, "hosts": grants.webhook_access(collection).hosts}
    return render(request, "judgments/webhooks/webhook_new.html", context, status=form.status)


@get_page
def webhook(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    return _page(request, *_reached(request, slug, uuid))


@form_page
def webhook_change(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection, hook = _reached(request, slug, uuid)
    fields = ("address", "description", "events")
    form = WebhookForm(request.POST or None, initial={name: getattr(hook, name) for name in fields})
    if request.method == "POST" and form.is_valid():
        with form.telling():
            webhooks.change(hook, actor=request.user, **form.cleaned_data)
            return finish(request, "Saved.", "webhook", slug, uuid)
    context = {"collection": collection, "form": form, "webhook": hook}
    return render(request, "judgments/webhooks/webhook_change.html", context, status=form.status)


@form_page
def webhook_remove(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection, hook = _reached(request, slug, uuid)
    if request.method == "POST":
        webhooks.remove(hook, actor=request.user)
        return finish(request, f"The webhook {hook} was deleted.", "webhooks", slug)
    context = {"collection": collection, "webhook": hook, "deliveries": deliveries.listed(hook).count()}
    return render(request, "judgments/webhooks/webhook_remove.html", context)


@post_action
def webhook_rotate(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Show the new secret on the page, once."""
    collection, hook = _reached(request, slug, uuid)
    return _secret(request, collection, hook, webhooks.rotate(hook, actor=request.user), rotated=True)


@post_action
def webhook_switch(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    _, hook = _reached(request, slug, uuid)
    changed = webhooks.change(hook, actor=request.user, active="on" in request.POST)
    return finish(request, f"The webhook is {'on' if changed.active else 'off'}.", "webhook", slug, uuid)


@post_action
def webhook_test(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    _, hook = _reached(request, slug, uuid)
    with errors_as_messages(request):
        made = deliveries.send_test(hook, actor=request.user)
        if made.state == Delivery.State.DELIVERED:
            messages.success(request, f"The receiver answered with status {made.status}.")
        else:
            messages.error(request, f"The test failed. {made.error}")
    return redirect("webhook", slug, uuid)


@post_action
def redeliver(request: HttpRequest, slug: str, uuid: str, delivery: str) -> HttpResponse:
    _, hook = _reached(request, slug, uuid)
    row = access.existing(deliveries.listed(hook).filter(uuid=delivery), "This webhook has no such delivery.")
    with errors_as_messages(request):
        deliveries.redeliver(row, actor=request.user)
        messages.success(request, "The event will be sent again.")
    return redirect("webhook", slug, uuid)


def _reached(request: HttpRequest, slug: str, uuid: str) -> tuple[Collection, Webhook]:
    collection = access.collection_for(request.user, slug, access.LEADS)
    rows = Webhook.objects.filter(collection=collection).select_related("collection", "created_by")
    return collection, access.existing(rows.filter(uuid=uuid), "This collection has no such webhook.")


def _secret(
    request: HttpRequest, collection: Collection, hook: Webhook, secret: str, *, rotated: bool = False
) -> HttpResponse:
    context = {"collection": collection, "webhook": hook, "secret": secret, "rotated": rotated}
    return render(request, "judgments/webhooks/webhook_secret.html", context)


def _page(request: HttpRequest, collection: Collection, hook: Webhook) -> HttpResponse:
    context = {
        "collection": collection,
        "webhook": hook,
        "works": _works(hook),
        "events": [(name, _title(name)) for name in hook.events],
        "days": deliveries.RETENTION.days,
    }
    listing = _deliveries(request, collection)
    return answer(request, listing, deliveries.listed(hook), "judgments/webhooks/webhook.html", context)
