"""Page for a rater to read how a lead resolved the pairs that they graded, and why."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString

from judgments.agreement.resolutions import resolved_pairs_for
from judgments.models import Round
from judgments.web import access
from judgments.web.figures import grade
from judgments.web.lists import Column, Listing, answer
from judgments.web.pages import get_page


def _listing(top: int) -> Listing:
    """Return the list; ``top`` is the highest grade of the scale."""

    def mine(pair: Any) -> int | None:
        return pair.mine[0].grade if pair.mine else None

    def given(pair: Any) -> SafeString:
        value = mine(pair)
        return SafeString('<span class="badge">cannot judge</span>') if value is None else grade(value, top)

    return Listing(
        name="settled",
        noun=("pair", "pairs"),
        columns=(
            Column("query", "Query", order="query__text", value=lambda pair: pair.query.text, head=True, style="clip"),
            Column("mine", "Your grade", value=mine, show=given),
            Column(
                "settled",
                "Resolved grade",
                value=lambda pair: pair.resolutions[0].grade,
                show=lambda pair: grade(pair.resolutions[0].grade, top),
            ),
            # The reason comes before the document, because a phone shows only the first columns.
            Column("why", "Reason", value=lambda pair: pair.resolutions[0].reason),
            Column(
                "document", "Document", order="document__title", value=lambda pair: str(pair.document), style="clip"
            ),
        ),
        search=("query__text", "document__title"),
        order="position",
    )


@get_page
def settled(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.RATERS)
    rows = resolved_pairs_for(request.user, round_)  # type: ignore[arg-type]
    context = {
        "round": round_,
        "collection": round_.collection,
        "closed": round_.state == Round.State.CLOSED,
    }
    return answer(
        request,
        _listing(max(round_.scale.values())).worded_for(round_),
        rows,
        "judgments/agreement/settled.html",
        context,
    )
