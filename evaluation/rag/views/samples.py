"""The samples of a set, and the page of one sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from assay.core.errors import NotFound
from assay.rag.fields import output_of, sample_of
from assay.rag.records import EvaluationSample, SystemOutputs
from assay.rag.support import supported_sentences
from evaluation.models import RagOutput, RagSample, RagSampleSet, RagScorecard, RagSystem
from evaluation.rag import sample_sets, scorecards
from evaluation.rag.sample_sets import sample_set_of
from evaluation.rag.views.scorecard import MOST_SYSTEMS, in_units
from judgments.guidelines.guidelines import Line, changes
from judgments.web.columns import Column
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import get_page

# Length up to which answers and documents are shown; the files contain the complete text.
LONGEST = 4_000
# Length of questions in headings and lists.
LONGEST_HEADING = 200
MOST_DOCUMENTS = 20


SAMPLE = ("rag_sample", "sample_set.collection.slug", "sample_set.uuid", "uuid")


def _samples_listing(row: RagSampleSet) -> Listing:
    def label_is(label: str) -> Any:
        return lambda rows, value: rows.annotate(sliced=Cast(KeyTextTransform(label, "labels"), TextField())).filter(
            sliced=value
        )

    return Listing(
        name="samples",
        stacked=True,
        noun=("sample", "samples"),
        columns=(
            Column("sample_id", "Sample", order="sample_id", head=True, style="id", url=SAMPLE),
            Column(
                "query",
                "Question",
                order="query",
                style="clip",
                show=lambda one: Truncator(one.query).chars(LONGEST_HEADING),
            ),
            Column(
                "labels", "Labels", style="clip muted", value=lambda one: ", ".join(map(": ".join, one.labels.items()))
            ),
        ),
        search=("sample_id", "query"),
        choices=tuple(
            ChoiceFilter(f"label-{place}", label, label_is(label), [(value, value) for value in values if value])
            for place, (label, values) in enumerate(row.labels.items())
        ),
        order="",
    )


@get_page
def samples(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """List the samples of a set."""
    row = sample_set_of(request, slug, uuid)
    rows = row.samples.select_related("sample_set__collection")
    context = {"collection": row.collection, "sample_set": row}
    return answer(request, _samples_listing(row), rows, "evaluation/rag/samples.html", context)


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
    """The output of one system for a sample."""

    system: RagSystem
    output: SystemOutputs | None
    answer: str
    cut: bool
    evidence: list[Evidence]
    more: int
    values: list[tuple[str, str]]
    timings: list[tuple[str, str]]


@get_page
def sample(request: HttpRequest, slug: str, uuid: str, sample: str) -> HttpResponse:
    """Show one sample: question, reference, and the output of each system."""
    row = sample_set_of(request, slug, uuid)
    one = row.samples.filter(uuid=sample).first()
    if one is None:
        raise NotFound("This sample set has no such sample.")
    record = sample_of(sample_sets.objects(row, [one])[0], 1)
    systems = list(row.systems.active())
    wanted = [request.GET.get(name, "") for name in ("a", "b")]
    chosen = [system for text in wanted for system in systems if str(system.uuid) == text]
    shown = (chosen or systems)[:MOST_SYSTEMS]
    sides = _sides(row, one, record, shown, request.user)
    context = {
        "collection": row.collection,
        "sample_set": row,
        "one": one,
        "sample": record,
        "question": _cut(record.query)[0] if len(record.query) > LONGEST_HEADING else "",
        "heading": Truncator(record.query).chars(LONGEST_HEADING),
        "reference": [_cut(text)[0] for text in record.references],
        "relevant": [(doc.doc_id, _cut(doc.text)[0]) for doc in (record.relevant_docs or ())[:MOST_DOCUMENTS]],
        "more_relevant": max(0, len(record.relevant_docs or ()) - MOST_DOCUMENTS),
        "labels": one.labels,
        "parent": row.samples.filter(sample_id=record.labels.get("variant_of", "")).first(),
        "variants": list(row.samples.filter(labels__variant_of=one.sample_id)[:MOST_DOCUMENTS]),
        "sides": sides,
        "hidden": len(systems) - len(shown),
        "difference": _difference(sides) if len(sides) == 2 else None,
        "previous": row.samples.filter(position=one.position - 1).first(),
        "next": row.samples.filter(position=one.position + 1).first(),
        "params": urlencode({name: text for name, text in zip(("a", "b"), wanted, strict=True) if text}),
    }
    return render(request, "evaluation/rag/sample.html", context)


def _cut(text: str) -> tuple[str, bool]:
    return text[:LONGEST], len(text) > LONGEST


def _sides(
    row: RagSampleSet, one: RagSample, record: EvaluationSample, shown: Sequence[RagSystem], reader: Any
) -> list[Side]:
    places = {place.system_id: place for place in RagOutput.objects.filter(sample=one, system__in=shown)}
    cards = {card.system_id: card for card in scorecards.cards_of(row, reader, per_sample=True) if card.system in shown}
    sides: list[Side] = []
    for system in shown:
        place = places.get(system.pk)
        output = None if place is None else output_of(sample_sets.objects(system, [place])[0], 1)
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
    """Return a text with these passages highlighted."""
    pieces, last = [], 0
    for begin, end in spans:
        pieces += [escape(text[last:begin]), format_html("<mark>{}</mark>", text[begin:end])]
        last = end
    return format_html_join("", "{}", ((piece,) for piece in [*pieces, escape(text[last:])]))


def _move(before: int | None, after: int) -> str:
    if before is None:
        return "new"
    return "" if before == after else f"up from {before}" if after < before else f"down from {before}"


def _difference(sides: Sequence[Side]) -> dict[str, Any]:
    """Describe the changes from the first system's answer and documents to the second's."""
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
