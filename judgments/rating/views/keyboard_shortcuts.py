"""Page to change one's keyboard shortcuts of the station."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from assay.core.errors import NotValid
from judgments.models import Round
from judgments.rating.keyboard_shortcuts import GRADES, keys_of, set_keys
from judgments.web.pages import form_page


@form_page
def keys(request: HttpRequest) -> HttpResponse:
    """Show every action with its key; an empty form restores the defaults."""
    if request.method != "POST":
        return _page(request, {})
    wanted = {} if "reset" in request.POST else request.POST.dict()
    try:
        set_keys(request.user, {act: text.replace("\0", "") for act, text in wanted.items()})
    except NotValid as error:
        return _page(request, error.fields, wanted, 422)
    messages.success(request, "Default shortcuts restored." if "reset" in request.POST else "Shortcuts saved.")
    return redirect("station_keys")


def _page(
    request: HttpRequest, faults: dict[str, str], bindings: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    own = bindings if bindings is not None else request.user.station_keys
    acts = [(key, own.get(key.act, ""), faults.get(key.act, "")) for key in keys_of(request.user)]
    digits = [(act, act[-1], own.get(act, ""), faults.get(act, "")) for act in GRADES]
    context = {
        "acts": acts,
        "digits": digits,
        "faults": faults,
        "changed": bool(request.user.station_keys),
        "work": Round.objects.open_to(request.user).select_related("collection").first(),
    }
    return render(request, "judgments/rating/station_keys.html", context, status=status)
