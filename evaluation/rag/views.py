"""Pages of RAG evaluation: sample sets, scorecards, comparisons, and single samples."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import escape as escape_html
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assay.rag.fields import output_of, sample_of
from assay.rag.records import EvaluationSample, SystemOutputs
from assay.rag.support import supported_sentences
from evaluation import verdict
from evaluation.models import RagOutput, RagSample, RagSampleSet, RagScorecard, RagSystem
from evaluation.rag import files, from_collection, people, scorecards, systems
from evaluation.rag.forms import FromCollectionForm, GradeForm, SettingsForm
from evaluation.rag.sample_sets import sample_set_for
from judgments import access, storage
from judgments.core.amounts import amount
from judgments.core.cells import csv_row, escape
from judgments.core.errors import NotFound
from judgments.core.text_difference import Line, changes
from judgments.templatetags.figures import number
from judgments.views.downloads import CONTENT_TYPES, attachment, disposition
from judgments.views.lists import Choice, Column, Listing, answer, on_record

# More systems than these stand beside each other only when the address names them.
MOST_SYSTEMS = 6
# Answers and documents are shown up to here; the files have them whole.
LONGEST = 4_000
MOST_DOCUMENTS = 20
DIFFERS = 1e-9


def _set_url(row: RagSampleSet) -> str:
    return reverse("rag_set", args=[row.collection.slug, row.uuid])


SETS = Listing(
    name="sample-sets",
    noun=("sample set", "sample sets"),
    columns=(
        Column("name", "Sample set", order="name", head=True, style="clip", url=_set_url),
        Column("rows", "Samples", order="rows", numeric=True),
        Column("systems", "Systems", order="system_count", numeric=True, value=lambda row: row.system_count),
        Column("references", "With reference", numeric=True, value=lambda row: row.figures["with a reference answer"]),
        Column(
            "relevant",
            "With relevant documents",
            numeric=True,
            value=lambda row: row.figures["with relevant documents"],
        ),
        Column("labels", "Labels", style="clip muted", value=lambda row: ", ".join(row.labels)),
        Column("created_by", "Added by", style="muted", value=lambda row: str(row.created_by or "")),
        Column("created_at", "Added", order="created_at", style="nowrap"),
    ),
    search=("name", "filename", "systems__name"),
    order="-created_at",
)


@login_required
@require_safe
def sample_sets(request: HttpRequest, slug: str) -> HttpResponse:
    """List the sample sets of a collection."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.rag_sample_sets.active().select_related("collection", "created_by").distinct()
    rows = rows.annotate(system_count=Count("systems", filter=Q(systems__archived_at__isnull=True), distinct=True))
    return answer(request, SETS, rows, "evaluation/rag/sets.html", {"collection": collection})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a sample set from the collection's queries, a snapshot and a run."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    form = FromCollectionForm(collection, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            job = from_collection.start(collection, **form.cleaned_data, actor=request.user)  # type: ignore[arg-type]
            return redirect("job", job.uuid)
    context = {"collection": collection, "form": form, "queries": collection.queries.count()}
    return render(request, "evaluation/rag/new.html", context, status=form.status)


@dataclass(frozen=True)
class Cell:
    """One metric of one system on the scorecard."""

    value: str
    low: str = ""
    high: str = ""
    number: int | None = None
    reason: str = ""
    interval_reason: str = ""
    words: str = ""
    sign: str = ""
    p: str = ""


@dataclass(frozen=True)
class Row:
    """One metric on the scorecard."""

    label: str
    title: str
    cells: list[Cell]
    higher_is_better: bool | None


@login_required
@require_safe
def sample_set(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Show the scorecards of the systems of a sample set."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    row = sample_set_for(request.user, collection, uuid)
    cards = scorecards.cards_of(row)
    found = list(row.systems.active().select_related("created_by"))
    for one in found:
        one.has_card = any(card.system_id == one.pk for card in cards)
    shown = _shown_cards(cards, request.GET.getlist("system"))
    slices = [label for label in row.labels if any(label in card.slices for card in shown)]
    context = {
        "collection": collection,
        "sample_set": row,
        "systems": found,
        "cards": shown,
        "hidden": len(cards) - len(shown),
        "parts": [(part, _rows(row, shown, labels)) for part, labels in scorecards.parts_of(shown).items()],
        "baseline": next((card.system for card in shown if card.system.baseline), None),
        "settings": scorecards.settings_of(row),
        "job": scorecards.job_of(row),
        "waiting": any(not one.has_card for one in found),
        "slices": slices,
        "form": SettingsForm(row),
        "graded": [(one, [_mean_grade(one, card.system) for card in shown]) for one in people.graded(row)],
        **_slice(request, shown, slices),
    }
    return render(request, "evaluation/rag/set.html", context)


def _shown_cards(cards: Sequence[RagScorecard], wanted: Sequence[str]) -> list[RagScorecard]:
    """The systems that the address names, else the first ones; the baseline stands first either way."""
    chosen = [card for card in cards if str(card.system.uuid) in wanted or (wanted and card.system.baseline)]
    return (chosen or list(cards))[:MOST_SYSTEMS]


def _rows(row: RagSampleSet, cards: Sequence[RagScorecard], labels: Sequence[str]) -> list[Row]:
    found = []
    baseline = next((card.system for card in cards if card.system.baseline), None)
    for label in labels:
        about = next(card.about[label] for card in cards if label in card.about)
        better = about["higher_is_better"]
        cells = []
        for card in cards:
            against = None
            if baseline is not None and card.system_id != baseline.pk:
                against = scorecards.comparison(row, baseline, card.system, label)
            cells.append(_cell(card.metrics.get(label), about["target"], against, better))
        found.append(Row(label, about["title"], cells, better))
    return found


def _cell(
    score: Mapping[str, Any] | None, target: str, against: Mapping[str, Any] | None = None, better: bool | None = True
) -> Cell:
    if score is None:
        return Cell("", reason="not computed")
    details = score["details"]
    if not details["defined"]:
        return Cell("", number=details["num_samples"], reason=details["reason"] or "")
    words = scorecards.in_words(against, better) if against is not None else ""
    p = None if against is None else against["p"] if against["p_corrected"] is None else against["p_corrected"]
    return Cell(
        in_units(score["value"], target),
        in_units(score["low"], target),
        in_units(score["high"], target),
        details["num_samples"],
        interval_reason=score.get("interval_reason") or "",
        words=words,
        sign=words if words in ("better", "worse") else "",
        p="" if p is None else verdict.chance(p),
    )


def in_units(value: float | None, target: str) -> str:
    """A value as it stands on a page: seconds with a unit, anything else with three decimals."""
    if value is None:
        return ""
    if target != "latency":
        return number(float(value))
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:,.2f} s"


def _slice(request: HttpRequest, cards: Sequence[RagScorecard], slices: Sequence[str]) -> dict[str, Any]:
    """The table of one metric over the values of one label."""
    if not slices:
        return {}
    label = request.GET.get("slice", "")
    label = label if label in slices else slices[0]
    metrics = list(dict.fromkeys(one for labels in scorecards.parts_of(cards).values() for one in labels))
    metric = _chosen_metric(request.GET.get("metric", ""), metrics)
    target = next((card.about[metric]["target"] for card in cards if metric in card.about), "")
    values = dict.fromkeys(value for card in cards for value in card.slices.get(label, {}))
    rows = [
        (value or "(none)", [_cell(card.slices.get(label, {}).get(value, {}).get(metric), target) for card in cards])
        for value in values
    ]
    return {"slice": label, "slice_metric": metric, "slice_metrics": metrics, "slice_rows": rows}


def _chosen_metric(wanted: str, metrics: Sequence[str]) -> str:
    if wanted in metrics:
        return wanted
    return next((one for one in ("TokenF1", "RecallAtK(k=10)") if one in metrics), next(iter(metrics), ""))


@login_required
@require_POST
def score(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Choose metrics and slices, and score the systems of a set."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    row = sample_set_for(request.user, collection, uuid)
    form = SettingsForm(row, request.POST)
    if form.is_valid():
        with form.telling():
            job = scorecards.change(
                row,
                metrics=form.cleaned_data["metrics"].split("\n") if form.cleaned_data["metrics"].strip() else [],
                slices=form.cleaned_data.get("slices", []),
                actor=request.user,  # type: ignore[arg-type]
            )
            return redirect("job", job.uuid)
    context = {"collection": collection, "sample_set": row, "form": form}
    return render(request, "evaluation/rag/settings.html", context, status=form.status)


def _mean_grade(of: people.Graded, system: RagSystem) -> Cell:
    """The mean of people's grades of one system's answers."""
    found = of.means.get(str(system.uuid))
    if found is None or found.value is None:
        return Cell("", reason="no grades" if of.means else "shown when the round is closed")
    return Cell(number(found.value), number(found.low), number(found.high), found.number)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def grade(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Make rounds in which people grade the answers of systems."""
    collection = access.collection_for(request.user, slug, access.LEADS)
    row = sample_set_for(request.user, collection, uuid)
    form = GradeForm(row, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            made = people.start(row, **form.cleaned_data, actor=request.user)  # type: ignore[arg-type]
            messages.success(request, f"{amount(len(made), 'draft round')} made. Open a round to let raters in.")
            return redirect("rounds", slug)
    context = {"collection": collection, "sample_set": row, "form": form, "systems": row.systems.active().exists()}
    return render(request, "evaluation/rag/grade.html", context, status=form.status)


@login_required
@require_POST
def make_baseline(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Make a system the baseline of its set."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    system = systems.system_for(request.user, collection, uuid)
    systems.set_baseline(system, actor=request.user)  # type: ignore[arg-type]
    messages.success(request, f"{system} is the baseline of {system.sample_set}.")
    return redirect("rag_set", slug, system.sample_set.uuid)


def _samples_listing(row: RagSampleSet) -> Listing:
    def label_is(label: str) -> Any:
        return lambda rows, value: rows.annotate(sliced=Cast(KeyTextTransform(label, "labels"), TextField())).filter(
            sliced=value
        )

    return Listing(
        name="samples",
        noun=("sample", "samples"),
        columns=(
            Column("sample_id", "Sample", order="sample_id", head=True, style="id", url=_sample_url),
            Column("query", "Question", order="query", style="clip"),
            Column("labels", "Labels", style="clip muted", value=lambda one: _label_words(one.labels)),
        ),
        search=("sample_id", "query"),
        choices=tuple(
            Choice(f"label-{place}", label, label_is(label), [(value, value) for value in values if value])
            for place, (label, values) in enumerate(row.labels.items())
        ),
        order="",
    )


def _sample_url(one: RagSample) -> str:
    return reverse("rag_sample", args=[one.sample_set.collection.slug, one.sample_set.uuid, one.uuid])


def _label_words(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in labels.items())


@login_required
@require_safe
def samples(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """List the samples of a set."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    row = sample_set_for(request.user, collection, uuid)
    rows = row.samples.select_related("sample_set__collection")
    context = {"collection": collection, "sample_set": row}
    return answer(request, _samples_listing(row), rows, "evaluation/rag/samples.html", context)


@login_required
@require_safe
def compare(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Show the answers of two systems side by side, with what changed."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    row = sample_set_for(request.user, collection, uuid)
    cards = scorecards.cards_of(row, per_sample=True)
    context: dict[str, Any] = {"collection": collection, "sample_set": row, "cards": cards}
    if len(cards) < 2:
        return render(request, "evaluation/rag/compare_empty.html", context)
    a = _card(cards, request.GET.get("a", ""), cards[0])
    b = _card(cards, request.GET.get("b", ""), next(card for card in cards if card is not a))
    if a is b:
        a = next(card for card in cards if card is not b)
    metrics = [label for label in a.metrics if _has_values(a, label) and _has_values(b, label)]
    metric = _chosen_metric(request.GET.get("metric", ""), metrics)
    about = a.about.get(metric, {"target": "", "higher_is_better": True})
    rows = _differences(row, a, b, metric, about["higher_is_better"])
    asked = {"a": str(a.system.uuid), "b": str(b.system.uuid), "metric": metric}
    result = scorecards.comparison(row, a.system, b.system, metric)
    context |= {
        "a": a,
        "b": b,
        "metric": metric,
        "metrics": metrics,
        "result": result,
        "figures": _figures(row, result, about),
        "family": scorecards.family_size(row, metric),
        "worst": "?" + urlencode({**asked, "sort": "gain"}),
        "best": "?" + urlencode({**asked, "sort": "-gain"}),
        "swapped": "?" + urlencode({**asked, "a": asked["b"], "b": asked["a"]}),
    }
    listing = _differences_listing(row, a, b, about["target"], asked)
    return answer(request, listing, rows, "evaluation/rag/compare.html", context)


def _card(cards: Sequence[RagScorecard], uuid: str, default: RagScorecard) -> RagScorecard:
    return next((card for card in cards if str(card.system.uuid) == uuid), default)


def _has_values(card: RagScorecard, metric: str) -> bool:
    return any(value is not None for value in card.per_sample.get(metric, {}).values())


def _figures(row: RagSampleSet, result: Mapping[str, Any] | None, about: Mapping[str, Any]) -> dict[str, Any] | None:
    """The comparison in figures and in words."""
    if result is None:
        return None
    target = about["target"]
    p = result["p"] if result["p_corrected"] is None else result["p_corrected"]
    return {
        "a": in_units(result["a_value"], target),
        "b": in_units(result["b_value"], target),
        "difference": _signed(result["difference"], target),
        "low": _signed(result["low"], target),
        "high": _signed(result["high"], target),
        "p": "" if p is None else verdict.chance(p),
        "words": scorecards.in_words(result, about["higher_is_better"]),
        "reason": result["reason"] or "",
    }


def _signed(value: float | None, target: str) -> str:
    if value is None:
        return ""
    if target != "latency":
        return verdict.signed(value)
    return ("−" if value < 0 else "+" if value > 0 else "") + in_units(abs(value), target)


def _differences(
    row: RagSampleSet, a: RagScorecard, b: RagScorecard, metric: str, better: bool | None
) -> list[dict[str, Any]]:
    """One row for each sample; ``gain`` is the difference, above 0 where b is better."""
    answers: dict[int, dict[int, str]] = {a.system_id: {}, b.system_id: {}}
    for system_id, sample_id, excerpt in RagOutput.objects.filter(system__in=(a.system_id, b.system_id)).values_list(
        "system", "sample", "excerpt"
    ):
        answers[system_id][sample_id] = excerpt
    first, second = (card.per_sample.get(metric, {}) for card in (a, b))
    sign = -1 if better is False else 1
    found = []
    for one in row.samples.all():
        before, after = first.get(one.sample_id), second.get(one.sample_id)
        gain = None if before is None or after is None else sign * (after - before)
        found.append(
            {
                "uuid": one.uuid,
                "sample_id": one.sample_id,
                "query": one.query,
                "labels": one.labels,
                "before": before,
                "after": after,
                "gain": gain,
                "change": _change(gain),
                "answer_a": answers[a.system_id].get(one.pk, ""),
                "answer_b": answers[b.system_id].get(one.pk, ""),
            }
        )
    return found


def _change(gain: float | None) -> str:
    if gain is None:
        return "not measured"
    return "same" if abs(gain) <= DIFFERS else "better" if gain > 0 else "worse"


def _differences_listing(
    row: RagSampleSet, a: RagScorecard, b: RagScorecard, target: str, asked: Mapping[str, str]
) -> Listing:
    def address(one: Mapping[str, Any]) -> str:
        page = reverse("rag_sample", args=[row.collection.slug, row.uuid, one["uuid"]])
        return f"{page}?{urlencode({'a': asked['a'], 'b': asked['b']})}"

    def gain(one: Mapping[str, Any]) -> SafeString | str:
        if one["gain"] is None:
            return "not measured"
        shown = _signed(one["after"] - one["before"], target)
        sign = one["change"] if one["change"] in ("better", "worse") else ""
        return format_html('<span class="delta" data-sign="{}">{}</span>', sign, shown)

    def label_is(label: str) -> Any:
        return lambda rows, value: [one for one in rows if one["labels"].get(label) == value]

    return Listing(
        name="differences",
        noun=("sample", "samples"),
        columns=(
            Column("sample_id", "Sample", order="-", head=True, style="id", url=address),
            Column("query", "Question", order="-", style="why"),
            Column("gain", "Difference", order="-", numeric=True, show=gain),
            Column("before", a.system.name, order="-", numeric=True, show=lambda one: in_units(one["before"], target)),
            Column("after", b.system.name, order="-", numeric=True, show=lambda one: in_units(one["after"], target)),
            Column("answer_a", f"Answer of {a.system.name}", style="why"),
            Column("answer_b", f"Answer of {b.system.name}", style="why"),
            Column("change", "Change", order="-"),
        ),
        search=("sample_id", "query", "answer_a", "answer_b"),
        choices=(
            Choice("change", "Change", "change", [(one, one) for one in ("worse", "better", "same", "not measured")]),
            *(
                Choice(f"label-{place}", label, label_is(label), [(value, value) for value in values if value])
                for place, (label, values) in enumerate(row.labels.items())
            ),
        ),
        order="gain",
        given=asked,
        mark=lambda one: {"worse": "error"}.get(one["change"], ""),
    )


@dataclass(frozen=True)
class Evidence:
    """A retrieved document on a sample's page."""

    doc_id: str
    rank: int
    score: float | None
    text: SafeString
    cut: bool
    relevant: bool
    supports: bool
    move: str


@dataclass(frozen=True)
class Side:
    """What one system returned for a sample."""

    system: RagSystem
    output: SystemOutputs | None
    answer: str
    cut: bool
    evidence: list[Evidence]
    more: int
    values: list[tuple[str, str]]
    timings: list[tuple[str, str]]


@login_required
@require_safe
def sample(request: HttpRequest, slug: str, uuid: str, sample: str) -> HttpResponse:
    """Show one sample: question, reference, and what each system returned for it."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    row = sample_set_for(request.user, collection, uuid)
    one = row.samples.filter(uuid=sample).first()
    if one is None:
        raise NotFound("This sample set has no such sample.")
    record = sample_of(files.objects(row, [one])[0], 1)
    found = list(row.systems.active())
    wanted = [request.GET.get(name, "") for name in ("a", "b")]
    chosen = [system for text in wanted for system in found if str(system.uuid) == text]
    shown = (chosen or found)[:MOST_SYSTEMS]
    sides = _sides(row, one, record, shown)
    context = {
        "collection": collection,
        "sample_set": row,
        "one": one,
        "sample": record,
        "reference": [_cut(text)[0] for text in record.references],
        "relevant": [(doc.doc_id, _cut(doc.text)[0]) for doc in (record.relevant_docs or ())[:MOST_DOCUMENTS]],
        "more_relevant": max(0, len(record.relevant_docs or ()) - MOST_DOCUMENTS),
        "labels": one.labels,
        "parent": row.samples.filter(sample_id=record.labels.get("variant_of", "")).first(),
        "variants": list(row.samples.filter(labels__variant_of=one.sample_id)[:MOST_DOCUMENTS]),
        "sides": sides,
        "hidden": len(found) - len(shown),
        "difference": _difference(sides) if len(sides) == 2 else None,
        "previous": row.samples.filter(position=one.position - 1).first(),
        "next": row.samples.filter(position=one.position + 1).first(),
        "asked": urlencode({name: text for name, text in zip(("a", "b"), wanted, strict=True) if text}),
    }
    return render(request, "evaluation/rag/sample.html", context)


def _cut(text: str) -> tuple[str, bool]:
    return text[:LONGEST], len(text) > LONGEST


def _sides(row: RagSampleSet, one: RagSample, record: EvaluationSample, shown: Sequence[RagSystem]) -> list[Side]:
    places = {place.system_id: place for place in RagOutput.objects.filter(sample=one, system__in=shown)}
    cards = {card.system_id: card for card in scorecards.cards_of(row, per_sample=True) if card.system in shown}
    sides: list[Side] = []
    for system in shown:
        place = places.get(system.pk)
        output = None if place is None else output_of(files.objects(system, [place])[0], 1)
        before = sides[0].output if len(shown) == 2 and sides else None
        sides.append(_side(system, one, record, output, before, cards.get(system.pk)))
    return sides


def _side(
    system: RagSystem,
    one: RagSample,
    record: EvaluationSample,
    output: SystemOutputs | None,
    before: SystemOutputs | None,
    card: RagScorecard | None,
) -> Side:
    answered, cut = _cut(output.response.text if output and output.response else "")
    values = []
    for label, of in (card.per_sample if card else {}).items():
        value = of.get(one.sample_id)
        if value is not None and card is not None:
            values.append((label, in_units(value, card.about[label]["target"])))
    ranks = {doc.doc.doc_id: doc.rank for doc in before.retrieved} if before else {}
    evidence = []
    docs = (output.retrieved if output else ())[:MOST_DOCUMENTS]
    texts = [_cut(doc.doc.text) for doc in docs]
    supports = supported_sentences(answered, [text for text, _ in texts])
    for doc, (text, too_long), spans in zip(docs, texts, supports, strict=True):
        evidence.append(
            Evidence(
                doc.doc.doc_id,
                doc.rank,
                doc.score,
                _marked(text, spans),
                too_long,
                doc.doc.doc_id in record.relevant_ids,
                bool(spans),
                _move(ranks.get(doc.doc.doc_id), doc.rank) if before else "",
            )
        )
    timings = [(stage, in_units(value, "latency")) for stage, value in (output.timings if output else {}).items()]
    more = max(0, len(output.retrieved) - MOST_DOCUMENTS) if output else 0
    return Side(system, output, answered, cut, evidence, more, values, timings)


def _marked(text: str, spans: Iterable[tuple[int, int]]) -> SafeString:
    """A text with these stretches marked."""
    pieces, last = [], 0
    for begin, end in spans:
        pieces += [escape_html(text[last:begin]), format_html("<mark>{}</mark>", text[begin:end])]
        last = end
    return format_html_join("", "{}", ((piece,) for piece in [*pieces, escape_html(text[last:])]))


def _move(before: int | None, after: int) -> str:
    if before is None:
        return "new"
    return "" if before == after else f"up from {before}" if after < before else f"down from {before}"


def _difference(sides: Sequence[Side]) -> dict[str, Any]:
    """What changed from the first system's answer and documents to the second's."""
    first, second = sides
    ids = [[doc.doc.doc_id for doc in side.output.retrieved] if side.output else [] for side in sides]
    return {
        "lines": changes(first.answer, second.answer) if first.answer != second.answer else [],
        "html": _changes_html(changes(first.answer, second.answer)),
        "gone": [doc_id for doc_id in ids[0] if doc_id not in ids[1]][:MOST_DOCUMENTS],
        "new": [doc_id for doc_id in ids[1] if doc_id not in ids[0]][:MOST_DOCUMENTS],
    }


def _changes_html(lines: Sequence[Line]) -> SafeString:
    tags = {"removed": "del", "added": "ins", "kept": "span"}

    def pieces(line: Line) -> SafeString:
        return format_html_join(
            "", "<{0}>{1}</{0}>", ((SafeString(tags[piece.kind]), piece.text) for piece in line.pieces)
        )

    return format_html_join("", "<p>{}</p>", ((pieces(line),) for line in lines))


@login_required
@require_safe
def set_file(request: HttpRequest, slug: str, uuid: str, name: str) -> HttpResponse | StreamingHttpResponse:
    """Download the samples, the scorecards or the values of the samples as a file."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    row = sample_set_for(request.user, collection, uuid)
    if name not in FILES:
        raise NotFound(f"Unknown file {name!r}. Known files: {', '.join(FILES)}.")
    on_record(request, f"{name} of {row}", collection)
    return FILES[name](row)


def _stored_file(row: RagSampleSet | RagSystem, name: str) -> FileResponse:
    with files.checked(row):
        response = FileResponse(storage.open_file(row.path), content_type=CONTENT_TYPES["jsonl"])
    response.headers["Content-Disposition"] = disposition(name)
    return response


def _file_name(row: RagSampleSet, name: str) -> str:
    return f"{slugify(f'{row.collection.slug} {row.name}')}-{name}"


def _samples_file(row: RagSampleSet) -> FileResponse:
    return _stored_file(row, _file_name(row, "samples.jsonl"))


def _scorecards_json(row: RagSampleSet) -> HttpResponse:
    body = json.dumps(scorecards.as_json(row, per_sample=True), ensure_ascii=False, indent=1)
    return attachment(_file_name(row, "scorecards.json"), body)


def _csv(
    row: RagSampleSet, name: str, rows: Iterator[Mapping[str, Any]], columns: Sequence[str]
) -> StreamingHttpResponse:
    def lines() -> Iterator[str]:
        yield csv_row(list(columns))
        for one in rows:
            yield csv_row(["" if one[key] is None else _plain(one[key]) for key in columns])

    response = StreamingHttpResponse(lines(), content_type=CONTENT_TYPES["csv"])
    response.headers["Content-Disposition"] = disposition(_file_name(row, name))
    return response


def _plain(value: Any) -> str:
    return str(value) if isinstance(value, int | float) else escape(str(value))


SCORE_COLUMNS = (
    "system", "slice", "slice_value", "metric", "value", "low", "high", "num_samples", "num_skipped", "reason",
)  # fmt: skip
SAMPLE_COLUMNS = ("system", "sample_id", "metric", "value")


def _scorecards_csv(row: RagSampleSet) -> StreamingHttpResponse:
    return _csv(row, "scorecards.csv", iter(scorecards.rows_of(row)), SCORE_COLUMNS)


def _samples_csv(row: RagSampleSet) -> StreamingHttpResponse:
    found = (
        {"system": card.system.name, "sample_id": sample_id, "metric": label, "value": value}
        for card in scorecards.cards_of(row, per_sample=True)
        for label, values in card.per_sample.items()
        for sample_id, value in values.items()
    )
    return _csv(row, "per-sample.csv", found, SAMPLE_COLUMNS)


FILES = {
    "samples.jsonl": _samples_file,
    "scorecards.json": _scorecards_json,
    "scorecards.csv": _scorecards_csv,
    "per-sample.csv": _samples_csv,
}


@login_required
@require_safe
def system_file(request: HttpRequest, slug: str, uuid: str) -> FileResponse:
    """Download the outputs of a system."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    system = systems.system_for(request.user, collection, uuid)
    on_record(request, f"the outputs of {system}", collection)
    return _stored_file(system, _file_name(system.sample_set, f"{slugify(system.name) or 'system'}-outputs.jsonl"))
