"""Page of the collection's strata, with the form to add one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from assay.core.text_rules import amount
from assay.sampling.counted_log import WINDOW_DAYS
from assay.sampling.draw import PPS, STRATIFIED
from judgments.models import Collection, Stratum
from judgments.queries.strata import FIRST
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import percent
from judgments.web.forms import AssayForm
from judgments.web.lists import Listing, answer
from judgments.web.pages import finish, form_page
from pooling.logs import query_logs, traffic
from pooling.logs.query_logs import DEFAULT_SIZES, MOST_QUERIES
from pooling.strata import strata as strata_actions
from pooling.strata.strata import Joined

# The option that derives from the log which stratum included this traffic before.
BY_LOG = "by-log"
NEW_TRAFFIC = "new"
BIGGEST_SEED = 2**31 - 1


class StratumForm(AssayForm):
    """A stratum: its name, its share of the traffic, and the queries drawn for it."""

    name = forms.CharField(max_length=100, help_text="For example shoes, or de.")
    log = forms.ModelChoiceField(
        None,
        to_field_name="uuid",
        required=False,
        label="Query log (optional)",
        empty_label="no log: add all queries listed below",
    )
    words = forms.CharField(
        required=False,
        label="Words (optional)",
        max_length=2_000,
        help_text="Separate words by commas. The stratum contains the log's queries with any of these words.",
    )
    queries = forms.CharField(
        required=False,
        label="Queries (optional)",
        max_length=500_000,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        help_text="One query per line. With a log, queries are drawn only from this list; without a log, all of them "
        "are added.",
    )
    language = forms.CharField(
        required=False, label="Language (optional)", max_length=35, help_text="Requires a log with a language column."
    )
    whole = forms.ChoiceField(label="Stratum that included this traffic before", required=False)
    share = forms.FloatField(
        label="Share of the whole traffic (optional)",
        required=False,
        min_value=0.000001,
        max_value=0.999999,
        help_text="Share of all future searches: 0.2 is a fifth. Leave empty if the log already includes this traffic.",
    )
    first = forms.CharField(
        label="Stratum name for the existing queries",
        max_length=100,
        help_text="The existing queries also become a stratum.",
    )
    method = forms.ChoiceField(
        label="Draw",
        choices=[(STRATIFIED, "by tier within the stratum"), (PPS, "by traffic")],
        widget=forms.RadioSelect,
    )
    head = forms.IntegerField(label="Head", min_value=0, max_value=MOST_QUERIES)
    torso = forms.IntegerField(label="Torso", min_value=0, max_value=MOST_QUERIES)
    tail = forms.IntegerField(label="Tail", min_value=0, max_value=MOST_QUERIES)
    n = forms.IntegerField(label="Number of queries (if drawn by traffic)", min_value=1, max_value=MOST_QUERIES)
    seed = forms.IntegerField(label="Seed", min_value=0, max_value=BIGGEST_SEED)
    window_days = forms.IntegerField(
        label="Last days of the log (optional)",
        required=False,
        min_value=1,
        max_value=query_logs.LONGEST_WINDOW,
    )

    DEFAULTS = {
        "whole": BY_LOG,
        "first": FIRST,
        "method": STRATIFIED,
        **DEFAULT_SIZES,
        "n": sum(DEFAULT_SIZES.values()),
        "seed": 1,
        "window_days": WINDOW_DAYS,
    }

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        logs: Any = self.fields["log"]
        logs.queryset = collection.query_logs.all()
        strata = list(collection.strata.values_list("name", flat=True))
        names = strata or [FIRST]
        whole: Any = self.fields["whole"]
        whole.choices = [
            (BY_LOG, "Automatic: the stratum that was drawn from the entire log"),
            (NEW_TRAFFIC, "None: new traffic"),
            *((f"in:{name}", f"Part of {name}") for name in names),
        ]
        if strata:
            del self.fields["first"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "log" in cleaned and not cleaned["log"]:
            if not cleaned.get("queries", "").strip():
                self.add_error("queries", "List the queries, or choose a log to draw from.")
            if not cleaned.get("share") and "share" not in self.errors:
                self.add_error("share", "A list has no traffic data. Enter a share such as 0.2.")
        return cleaned

    @property
    def part_of(self) -> str | None:
        """Return the argument of :func:`pooling.strata.strata.add_stratum`."""
        whole = self.cleaned_data.get("whole") or BY_LOG
        return None if whole == BY_LOG else whole.removeprefix("in:") if whole != NEW_TRAFFIC else ""

    @property
    def common(self) -> dict[str, Any]:
        """Return the arguments of both ways to add a stratum."""
        cleaned = self.cleaned_data
        lines = [line.strip() for line in cleaned["queries"].splitlines() if line.strip()]
        options = {"name": cleaned["name"], "share": cleaned["share"], "queries": lines}
        return options | ({"first": cleaned["first"]} if cleaned.get("first") else {})

    @property
    def draw(self) -> dict[str, Any]:
        """Return the arguments of a draw from a log."""
        cleaned = self.cleaned_data
        by_tier = cleaned["method"] == STRATIFIED
        return {
            "part_of": self.part_of,
            "words": [word.strip() for word in cleaned["words"].split(",") if word.strip()],
            "language": cleaned["language"],
            "method": cleaned["method"],
            "sizes": {tier: cleaned[tier] for tier in DEFAULT_SIZES} if by_tier else None,
            "n": None if by_tier else cleaned["n"],
            "seed": cleaned["seed"],
            "window_days": cleaned["window_days"],
        }


STRATA = Listing(
    name="strata",
    noun=("stratum", "strata"),
    columns=(
        Column("name", "Stratum", order="name", head=True, style="clip"),
        Column("share", "Share of the traffic", order="share", numeric=True, show=lambda row: percent(row.share)),
        Column("part_of", "Part of", value=lambda row: row.part_of.name if row.part_of else ""),
        Column("own", "Drawn queries", order="own", numeric=True),
        Column("also", "Existing queries", order="also", numeric=True),
        Column("filters", "Filter", value=lambda row: _filter_words(row.filters), style="clip muted"),
        Column("created_at", "Added", order="created_at", style="nowrap"),
    ),
    search=("name",),
    order="-share",
)


@form_page
def stratum_list(request: HttpRequest, slug: str) -> HttpResponse:
    roles = access.LEADS if request.method == "POST" else access.STAFF
    collection = access.collection_for(request.user, slug, roles)
    form = StratumForm(
        request.POST or None, collection=collection, initial={**StratumForm.DEFAULTS, **_from_link(request)}
    )
    if request.method == "POST" and form.is_valid():
        with form.telling():
            return _add(request, collection, form)
    rows = Stratum.objects.filter(collection=collection).select_related("part_of")
    rows = rows.annotate(own=Count("queries", distinct=True), also=Count("places", distinct=True))
    context = {
        "collection": collection,
        "step": "queries",
        "form": form,
        "drawn": collection.queries.filter(probability__isnull=False).count(),
    }
    return answer(request, STRATA, rows, "pooling/strata/strata.html", context, form.status)


def _add(request: HttpRequest, collection: Collection, form: StratumForm) -> HttpResponse:
    log = form.cleaned_data["log"]
    if log is None:
        part_of = form.part_of or ""
        joined = strata_actions.add_list(collection, actor=request.user, part_of=part_of, **form.common)
    elif traffic.is_large(log):
        return redirect("job", strata_actions.add_later(log, actor=request.user, **form.common, **form.draw).uuid)
    else:
        joined = strata_actions.add_stratum(log, actor=request.user, **form.common, **form.draw)
    return finish(request, _words(joined), "strata", collection.slug)


def _words(joined: Joined) -> str:
    number, there = len(joined.new), len(joined.there)
    also = f" {amount(there, 'existing query also belongs', 'existing queries also belong')} to it." if there else ""
    share = percent(joined.stratum.share)
    return f"{joined.stratum} represents {share} of the traffic, with {number:,} new quer{_ies(number)}.{also}"


def _ies(number: int) -> str:
    return "y" if number == 1 else "ies"


def _from_link(request: HttpRequest) -> dict[str, Any]:
    """Return the values that a link to this page prefills, for a missing stratum."""
    names = ("name", "words", "language", "log", "share")
    return {name: request.GET[name][:200] for name in names if request.GET.get(name)}


def _filter_words(filters: dict[str, Any]) -> str:
    parts = []
    if filters.get("words"):
        parts.append("words " + ", ".join(filters["words"]))
    if filters.get("queries"):
        parts.append(amount(len(filters["queries"]), "listed query", "listed queries"))
    if filters.get("language"):
        parts.append(f"language {filters['language']}")
    return "; ".join(parts)
