"""Answers of two systems side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from evaluation.models import RagOutput, RagSampleSet, RagScorecard
from evaluation.rag import scorecards
from evaluation.rag.sample_sets import sample_set_of
from evaluation.rag.views.samples import LONGEST_HEADING
from evaluation.rag.views.scorecard import chosen_metric, in_units
from evaluation.scoring import metric_values
from judgments.web.columns import Column
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import get_page

DIFFERS = 1e-9
# Number of characters of a system's name in a column heading.
LONGEST_HEAD = 30


@get_page
def compare(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Show the answers of two systems side by side, with the changes."""
    row = sample_set_of(request, slug, uuid)
    cards = scorecards.cards_of(row, request.user, per_sample=True)
    context: dict[str, Any] = {"collection": row.collection, "sample_set": row, "cards": cards}
    if len(cards) < 2:
        return render(request, "evaluation/rag/compare_empty.html", context)
    a = _card(cards, request.GET.get("a", ""), cards[0])
    b = _card(cards, request.GET.get("b", ""), next(card for card in cards if card is not a))
    if a is b:
        a = next(card for card in cards if card is not b)
    metrics = [label for label in a.metrics if _has_values(a, label) and _has_values(b, label)]
    metric = chosen_metric(request.GET.get("metric", ""), metrics)
    about = a.about.get(metric, {"target": "", "higher_is_better": True})
    rows = _differences(row, a, b, metric, about["higher_is_better"])
    params = {"a": str(a.system.uuid), "b": str(b.system.uuid), "metric": metric}
    result = scorecards.comparison(row, a.system, b.system, metric)
    context |= {
        "a": a,
        "b": b,
        "metric": metric,
        "metrics": metrics,
        "result": result,
        "figures": _figures(result, about),
        "family": scorecards.family_size(row, metric),
        "worst": "?" + urlencode({**params, "sort": "gain"}),
        "best": "?" + urlencode({**params, "sort": "-gain"}),
        "swapped": "?" + urlencode({**params, "a": params["b"], "b": params["a"]}),
    }
    listing = _differences_listing(row, a, b, about["target"], params)
    return answer(request, listing, rows, "evaluation/rag/compare.html", context)


def _short(card: RagScorecard) -> str:
    """Return the name of a system, short enough for a column heading."""
    return Truncator(card.system.name).chars(LONGEST_HEAD)


def _card(cards: Sequence[RagScorecard], uuid: str, default: RagScorecard) -> RagScorecard:
    return next((card for card in cards if str(card.system.uuid) == uuid), default)


def _has_values(card: RagScorecard, metric: str) -> bool:
    return any(value is not None for value in card.per_sample.get(metric, {}).values())


def _figures(result: Mapping[str, Any] | None, about: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the comparison as numbers and text."""
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
        "p": "" if p is None else metric_values.chance(p),
        "words": scorecards.in_words(result, about["higher_is_better"]),
        "reason": result["reason"] or "",
    }


def _signed(value: float | None, target: str) -> str:
    if value is None:
        return ""
    if target != "latency":
        return metric_values.signed(value)
    return ("−" if value < 0 else "+" if value > 0 else "") + in_units(abs(value), target)


def _differences(
    row: RagSampleSet, a: RagScorecard, b: RagScorecard, metric: str, better: bool | None
) -> list[dict[str, Any]]:
    """Return one row per sample; ``gain`` is the difference, above 0 if b is better."""
    answers: dict[int, dict[int, str]] = {a.system_id: {}, b.system_id: {}}
    for system_id, sample_id, excerpt in RagOutput.objects.filter(system__in=(a.system_id, b.system_id)).values_list(
        "system", "sample", "excerpt"
    ):
        answers[system_id][sample_id] = excerpt
    first, second = (card.per_sample.get(metric, {}) for card in (a, b))
    sign = -1 if better is False else 1
    rows = []
    for one in row.samples.all():
        before, after = first.get(one.sample_id), second.get(one.sample_id)
        gain = None if before is None or after is None else sign * (after - before)
        rows.append(
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
    return rows


def _change(gain: float | None) -> str:
    if gain is None:
        return "not measured"
    return "same" if abs(gain) <= DIFFERS else "better" if gain > 0 else "worse"


def _differences_listing(
    row: RagSampleSet, a: RagScorecard, b: RagScorecard, target: str, params: Mapping[str, str]
) -> Listing:
    def address(one: Mapping[str, Any]) -> str:
        page = reverse("rag_sample", args=[row.collection.slug, row.uuid, one["uuid"]])
        return f"{page}?{urlencode({'a': params['a'], 'b': params['b']})}"

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
        stacked=True,
        noun=("sample", "samples"),
        columns=(
            Column("sample_id", "Sample", order="-", head=True, style="id", url=address),
            Column(
                "query",
                "Question",
                order="-",
                style="clip",
                show=lambda one: Truncator(one["query"]).chars(LONGEST_HEADING),
            ),
            Column("gain", "Difference", order="-", numeric=True, show=gain),
            Column("before", _short(a), order="-", numeric=True, show=lambda one: in_units(one["before"], target)),
            Column("after", _short(b), order="-", numeric=True, show=lambda one: in_units(one["after"], target)),
            Column("answer_a", f"Answer of {_short(a)}", style="why"),
            Column("answer_b", f"Answer of {_short(b)}", style="why"),
            Column("change", "Change", order="-"),
        ),
        search=("sample_id", "query", "answer_a", "answer_b"),
        choices=(
            ChoiceFilter(
                "change", "Change", "change", [(one, one) for one in ("worse", "better", "same", "not measured")]
            ),
            *(
                ChoiceFilter(f"label-{place}", label, label_is(label), [(value, value) for value in values if value])
                for place, (label, values) in enumerate(row.labels.items())
            ),
        ),
        order="gain",
        given=params,
        mark=lambda one: {"worse": "error"}.get(one["change"], ""),
    )
