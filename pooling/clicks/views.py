"""Pages of click label sources: their labels, intervals and agreement with human grades."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from assay.clicks import CLICK_MODELS
from assay.clicks.grade_cuts import parse_cuts
from assay.core.errors import AssayError, Conflict
from judgments.models import Collection, ImportedLabel, LabelSource
from judgments.web import access
from judgments.web.columns import QUERY_COLUMN, Column
from judgments.web.figures import number, percent
from judgments.web.forms import AssayForm
from judgments.web.lists import ChoiceFilter, Listing, answer, requested_table, small_table
from judgments.web.pages import form_page, get_page
from pooling.clicks import agreement, charts, label_sources

SOURCES = Listing(
    name="click-sources",
    noun=("source", "sources"),
    columns=(
        Column(
            "name", "Source", order="name", head=True, style="clip", url=("click_source", "collection.slug", "uuid")
        ),
        Column("model", "Label", value=lambda source: _model(source)),
        Column("labels", "Labels", order="label_count", numeric=True, value="label_count"),
        Column("queries", "Queries", order="query_count", numeric=True, value="query_count"),
        Column("impressions", "Impressions", numeric=True, value=lambda source: source.report["impressions"]),
        Column("clicks", "Clicks", numeric=True, value=lambda source: source.report["clicks"]),
        Column("created_by", "Stored by", value=lambda source: str(source.created_by or "")),
        Column("created_at", "Stored", order="created_at", style="nowrap"),
    ),
    search=("name",),
    order="-created_at",
)
LABELS = Listing(
    name="click-labels",
    noun=("label", "labels"),
    columns=(
        Column("query_id", "Query id", order="query__query_id", value="query.query_id", style="id clip"),
        QUERY_COLUMN,
        Column("doc_id", "Document", order="document__doc_id", value="document.doc_id", style="id"),
        Column("title", "Title", value="document.title", style="clip"),
        Column("label", "Label", order="value", numeric=True, value="value", show=lambda row: _label(row)),
        Column("low", "Interval from", order="click_count__low", numeric=True, value="click_count.low"),
        Column("high", "Interval to", order="click_count__high", numeric=True, value="click_count.high"),
        Column(
            "impressions",
            "Impressions",
            order="click_count__impressions",
            numeric=True,
            value="click_count.impressions",
        ),
        Column("clicks", "Clicks", order="click_count__clicks", numeric=True, value="click_count.clicks"),
        Column(
            "expected",
            "Expected clicks",
            order="click_count__expected",
            numeric=True,
            value="click_count.expected",
            show=lambda row: number(row.click_count.expected, 1),
        ),
    ),
    search=("query__text", "query__query_id", "document__doc_id", "document__title"),
    choices=(
        ChoiceFilter(
            "sure",
            "Interval",
            lambda rows, value: _by_interval(rows, value),
            [
                ("above", "entirely above average"),
                ("below", "entirely below average"),
                ("both", "includes the average"),
            ],
        ),
    ),
    order="-label",
)
RANKS = (
    Column("rank", "Rank", head=True, value=lambda row: row[0], show=lambda row: str(row[0] or "unknown")),
    Column(
        "rate",
        "Expected clicks per impression",
        numeric=True,
        value=lambda row: row[3],
        show=lambda row: percent(row[3]),
    ),
    Column("impressions", "Impressions", numeric=True, value=lambda row: row[1]),
    Column("clicks", "Clicks", numeric=True, value=lambda row: row[2]),
)
BINS = (
    Column("label", "Label", head=True, value="words"),
    Column("pairs", "Pairs", numeric=True, value="pairs"),
)


class GradesForm(AssayForm):
    """Thresholds that turn labels into grades."""

    name = forms.CharField(max_length=120)
    cuts = forms.CharField(
        max_length=300,
        label="Thresholds between grades",
        help_text="The lowest label of each grade, starting with grade 1, in ascending order.",
    )

    def tell(self, error: AssayError) -> None:
        """Show the error about a taken name at the name field."""
        if isinstance(error, Conflict):
            self.conflict = True
            self.add_error("name", str(error))
        else:
            super().tell(error)


@get_page.of_collection(access.STAFF)
def source_list(request: HttpRequest, collection: Collection) -> HttpResponse:
    return answer(
        request, SOURCES, sources(collection), "pooling/clicks/click_sources.html", {"collection": collection}
    )


@form_page
def source(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS if request.method == "POST" else access.STAFF)
    row = access.reach(sources(collection), request.user, access.STAFF, uuid=uuid)
    compared = agreement.compare(row, reader=request.user)
    form = GradesForm(
        request.POST if request.method == "POST" else None,
        initial={"name": f"{row.name} as grades"[:120], "cuts": ", ".join(f"{cut:g}" for cut in compared.cuts)},
    )
    if request.method == "POST" and form.is_valid():
        with form.telling():
            cuts = parse_cuts(form.cleaned_data["cuts"])
            agreement.checked_scale(cuts, compared.scale)
            made = label_sources.make_grades(row, actor=request.user, name=form.cleaned_data["name"], cuts=cuts)
            messages.success(request, f"Grades {made} created. The original labels stay unchanged.")
            return redirect("click_source", collection.slug, made.uuid)
    context = {"collection": collection, "source": row, "form": form, "compared": compared, **_figures(row)}
    context["click_grades"] = [f"Click grade {grade}" for grade in compared.scale] if compared.cuts else []
    file = requested_table(request, context["tables"], context)
    rows = row.labels.select_related("query", "document", "click_count")
    return file or answer(request, LABELS, rows, "pooling/clicks/click_source.html", context, form.status)


def sources(collection: Collection) -> QuerySet[LabelSource]:
    """Return the collection's click sources with their numbers of labels."""
    rows = collection.label_sources.filter(kind=LabelSource.Kind.CLICKS).select_related("collection", "created_by")
    return rows.annotate(label_count=Count("labels"), query_count=Count("labels__query", distinct=True))


def _figures(row: LabelSource) -> dict[str, Any]:
    """Return the charts and tables of a source."""
    report, rules = row.report, row.report["rules"]
    member = CLICK_MODELS[rules["model"]]
    bins = charts.bins_of(list(row.labels.values_list("value", flat=True)), grades=bool(rules["cuts"]))
    ranks = small_table("ranks", ("rank", "ranks"), RANKS, report["ranks"])
    spread = small_table("labels", ("label", "labels"), BINS, bins)
    return {
        "report": report,
        "rules": rules,
        "member": member,
        "cuts": ", ".join(f"{cut:g}" for cut in rules["cuts"]),
        "robots": sum(report["robots"].values()),
        "ranks": ranks,
        "spread": spread,
        "tables": (ranks, spread),
        "ranks_chart": charts.rate_bars([(rank, rate) for rank, _, _, rate in report["ranks"]]),
        "spread_chart": charts.label_bars(bins, member.usual(report["overall"])) if bins else None,
    }


def _model(source: LabelSource) -> str:
    rules = source.report["rules"]
    graded = " as grades" if rules["cuts"] else ""
    return f"{rules['model'].upper()}{graded}"


def _label(row: ImportedLabel) -> str:
    return str(number(row.value)) if row.value % 1 else f"{row.value:.0f}"


def _by_interval(rows: Any, value: str) -> Any:
    source = rows.first().source if rows.exists() else None
    if source is None:
        return rows
    usual = CLICK_MODELS[source.report["rules"]["model"]].usual(source.report["overall"])
    if value == "above":
        return rows.filter(click_count__low__gt=usual)
    if value == "below":
        return rows.filter(click_count__high__lt=usual)
    return rows.filter(click_count__low__lte=usual, click_count__high__gte=usual)
