"""Which programs act for me?"""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from judgments import tokens as verbs
from judgments.forms import TokenForm
from judgments.models import ApiToken


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_list(request: HttpRequest) -> HttpResponse:
    form, text, made = TokenForm(request.POST or None), "", None
    if request.method == "POST" and form.is_valid():
        with form.telling():
            # Shown in the answer to the POST and nowhere else: not in a session, not in a message, not after a reload.
            made, text = verbs.make_token(request.user, **form.cleaned_data)
            form = TokenForm()
    context = {
        "form": form,
        "made": made,
        "text": text,
        "tokens": ApiToken.objects.filter(user=request.user, revoked_at__isnull=True),
        "server": request.build_absolute_uri("/"),
    }
    return render(request, "judgments/tokens.html", context, status=form.status)


@login_required
@require_POST
def revoke(request: HttpRequest, uuid: str) -> HttpResponse:
    token = ApiToken.objects.filter(user=request.user, uuid=uuid).first()
    if token is None:
        raise Http404
    verbs.revoke_token(token, actor=request.user)
    messages.success(request, f"The token {token.name} opens nothing any more.")
    return redirect("tokens")
