"""Content of a snapshot: the values that its hash covers, the files of its export, and its manifest with warnings."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from django.utils import timezone

from assay.core.text_rules import amount
from assay.formats import FORMATS, snapshot_bundle
from assay.formats.document_hashes_csv import DocumentHash
from assay.formats.manifest import file_entry
from assay.formats.row_types import LabelRow, QueryRow, RatingRow, StratumRow
from assay.formats.snapshot_bundle import canonical
from judgments.agreement import agreement_summary
from judgments.agreement.gate import GateResult
from judgments.labels import round_labels
from judgments.models import Adjudication, Collection, Judgment, Place, Query, Round
from judgments.models.snapshot import FILES
from judgments.queries import strata
from judgments.snapshots import baselines, merging
from judgments.snapshots.final_labels import Consolidation, LabelSet, chosen_sources

# The lead who resolved a conflict stays anonymous, like the raters.
ADJUDICATOR = "adjudicator"
SAMPLING = ("log_sha256", "method", "seed", "parameters", "frame")
FORMAT_OF = {path: name for name, path in FILES.items()}


def software() -> str:
    """Return the software version, which is part of a snapshot's provenance."""
    try:
        return version("assay")
    except PackageNotFoundError:  # a checkout that is not installed
        return "0.1.0"


def content_sha256(content: dict[str, Any]) -> str:
    """Return a snapshot's identity: SHA-256 of its content as canonical JSON (sorted keys, no spaces, UTF-8)."""
    return hashlib.sha256(canonical(content)).hexdigest()


def judged_queries(collection: Collection, rounds: list[Round], settled: LabelSet) -> list[Query]:
    """Return every query that was judged or has a label, sorted by the bytes of its id."""
    labelled = {label.query_id for label in settled.labels}
    rows = Query.of_any_kind.filter(collection=collection).select_related("sample")
    # An imported label may belong to a query outside the rounds.
    named = rows.filter(query_id__in=labelled).order_by("-kind")
    judged = rows.filter(pairs__round__in=rounds).distinct()
    queries = {query.query_id: query for query in [*named, *judged]}
    return sorted(queries.values(), key=lambda query: query.query_id.encode())


def content(queries: list[Query], rounds: list[Round], settled: LabelSet, how: Consolidation) -> dict[str, Any]:
    """Return everything that the hash covers, as JSON values."""
    # The files of imported labels by hash, in the order in which newer ones take precedence.
    sources = [one.sha256 for one in chosen_sources(queries[0].collection, how.named)] if queries else []
    samples = {query.sample for query in queries if query.sample}
    places = strata.places(queries)
    further = Place.objects.filter(query__in=queries).select_related("sample") if places else ()
    samples |= {place.sample for place in further if place.sample}
    return {
        "assay_content": snapshot_bundle.VERSION,
        "labels": [[label.query_id, label.doc_id, label.grade, label.column] for label in settled.labels],
        # Included only if there are any; otherwise the hash must equal that of older versions.
        **(
            {"carried": [[one.query_id, one.doc_id, *one.source] for one in settled.carried]} if settled.carried else {}
        ),
        "queries": [
            {
                "query_id": query.query_id,
                "query": query.text,
                "narrative": query.narrative,
                "group": query.group,
                "tier": query.tier,
                "frequency": query.frequency,
                "probability": query.probability,
                "weight": query.weight,
                # Included only if there are any; without strata the hash must equal that of older versions.
                **({"strata": [list(astuple(place)) for place in places[query.pk]]} if query.pk in places else {}),
            }
            for query in queries
        ],
        "provenance": {
            "sampling": sorted(({name: getattr(one, name) for name in SAMPLING} for one in samples), key=canonical),
            "rounds": sorted((_round_content(round_) for round_ in rounds), key=canonical),
            "consolidation": how.as_json(),
            **({"label_sources": sources} if "imported" in how.sources else {}),
            "software": software(),
        },
    }


def _round_content(round_: Round) -> dict[str, Any]:
    return {
        "guidelines_sha256": round_.guidelines.sha256,
        "scale": [[grade.value, grade.label, grade.cue] for grade in round_.scale.grades.all()],
        "ratings_per_pair": round_.ratings_per_pair,
        "overlap": round_.overlap,
        "seed": round_.seed,
        "pool": round_.provenance,
    }


def scale_of(rounds: list[Round]) -> dict[str, Any]:
    if not rounds:
        return {"grades": [], "labels": []}
    grades = list(rounds[0].scale.grades.all())
    return {
        "grades": [grade.value for grade in grades],
        "labels": [grade.label for grade in grades],
        "relevant_from": rounds[0].scale.relevant_from,
    }


def files(
    queries: list[Query], rounds: list[Round], settled: LabelSet, hashes: Mapping[str, str]
) -> dict[str, tuple[int, bytes]]:
    """Return the files with their numbers of rows; ``hashes`` are the content hashes of judged documents by id."""
    text = {query.query_id: query.text for query in queries}
    sources = {(one.query_id, one.doc_id): one.source for one in settled.carried}
    labels = [
        LabelRow(
            label.query_id,
            label.doc_id,
            label.grade,
            label.column,
            text[label.query_id],
            sources.get((label.query_id, label.doc_id)),
        )
        for label in settled.labels
    ]
    queries_rows = rows_of_queries(queries)
    rows = {
        "trec-qrels": labels,
        "judgment-list": labels,
        "queries-csv": queries_rows,
        "queries-tsv": queries_rows,
        "ratings-csv": [*_ratings(rounds), *_verdicts(rounds)],
        "document-hashes-csv": [DocumentHash(doc_id, digest) for doc_id, digest in hashes.items()],
    }
    written = {}
    for name, part in rows.items():
        FORMATS[name].write(part, stream := io.BytesIO())
        written[FILES[name]] = (len(part), stream.getvalue())
    return written


def rows_of_queries(queries: list[Query]) -> list[QueryRow]:
    """Return the queries as rows of a file, with tier, probability and weight of their stratum."""
    places = strata.places(queries)
    rows = []
    for query in queries:
        none = StratumRow("", 0.0, query.tier, query.probability, query.weight)  # type: ignore[arg-type]
        own, *also = places.get(query.pk, [none])
        rows.append(
            QueryRow(
                query.query_id,
                query.text,
                query.narrative,
                query.group,
                own.tier,
                query.frequency,
                query.clients,
                own.probability,
                own.weight,
                own.stratum,
                own.share if own.stratum else None,
                tuple(also),
                query.language,
            )
        )
    return rows


def _ratings(rounds: list[Round]) -> Iterable[Any]:
    """Return each rater's current answer for each pair, with the same pseudonyms in all rounds of the"""
    names = _pseudonyms(rounds)
    versions = {round_.pk: str(round_.guidelines.number) for round_ in rounds}
    all_queries = Query.of_any_kind.filter(collection__in={round_.collection_id for round_ in rounds})
    queries = {pk: (query_id, text) for pk, query_id, text in all_queries.values_list("pk", "query_id", "text")}
    # Read only the columns of the file and create no objects, because there may be a million answers.
    wanted = ("pk", "rater", "pair__query", "pair__document", "pair__document__doc_id", "pair__round")
    columns = ("grade", "state", "created_at", "seconds_active", "note")
    current = Judgment.objects.current().filter(pair__round__in=rounds).order_by("pair__round__created_at", "pk")
    # If a rater graded a pair in two rounds, the file contains the answer of the newest round.
    newest = {row[1:4]: row for row in current.values_list(*wanted, *columns).iterator(chunk_size=2000)}
    for _, rater, query, _, doc_id, round_, grade, state, at, seconds, note in sorted(newest.values()):
        query_id, text = queries[query]
        yield RatingRow(
            query_id,
            doc_id,
            names[rater],
            grade,
            state=state,
            query=text,
            source="human",
            guideline=versions[round_],
            rated_at=at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            ms_active=None if seconds is None else round(seconds * 1000),
            note=note,
        )


def _verdicts(rounds: list[Round]) -> Iterable[Any]:
    """Return the resolutions, which are needed to compute the labels again; one row per pair, from the newest round."""
    current = Adjudication.objects.current().filter(pair__round__in=rounds)
    current = current.select_related("pair__query", "pair__document", "pair__round__guidelines")
    newest = {
        (settled.pair.query.query_id, settled.pair.document.doc_id): settled
        for settled in current.order_by("pair__round__created_at", "pk")
    }
    for (query_id, doc_id), settled in newest.items():
        yield RatingRow(
            query_id,
            doc_id,
            ADJUDICATOR,
            settled.grade,
            query=settled.pair.query.text,
            source="adjudicated",
            guideline=str(settled.pair.round.guidelines.number),
            rated_at=settled.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            note=settled.reason,
        )


def _pseudonyms(rounds: list[Round]) -> dict[int, str]:
    """Return the pseudonyms of the newest round, and the next free ones for raters of older rounds."""
    names: dict[int, str] = {}
    for round_ in sorted(rounds, key=lambda row: row.created_at, reverse=True):
        for rater, pseudonym in sorted(round_labels.pseudonyms(round_).items(), key=lambda row: row[1]):
            free = pseudonym if pseudonym not in names.values() else f"r{len(names) + 1:02d}"
            names.setdefault(rater, free)
    return names


def entries(files: dict[str, tuple[int, bytes]]) -> list[dict[str, Any]]:
    """Return each file's entry in the manifest: format, rows, size and hash."""
    return [file_entry(path, _format(path), rows, body) for path, (rows, body) in sorted(files.items())]


def _format(path: str) -> str:
    return FORMAT_OF.get(path) or ("markdown" if path.endswith(".md") else "json")


def text_file(text: str) -> tuple[int, bytes]:
    """Return a text with its number of lines, as an entry of the files."""
    return len(text.splitlines()), text.encode()


def texts(content: dict[str, Any], rounds: list[Round]) -> dict[str, tuple[int, bytes]]:
    """Return the content that the hash covers, and the guidelines of the rounds, as files."""
    versions = {one.guidelines.number: one.guidelines.markdown for one in rounds}
    return {
        snapshot_bundle.CONTENT: (len(content["labels"]), canonical(content)),
        **{snapshot_bundle.guidelines_file(number): text_file(text) for number, text in versions.items()},
    }


OPTIONS = {"csv_escape": "apostrophe", "encode_ids": False, "omit_unrated": True, "pseudonyms": True}


def identity(name: str, content: dict[str, Any]) -> dict[str, Any]:
    """Return the part of the manifest that identifies the snapshot: content hash, name, time and provenance."""
    return {
        "content_sha256": content_sha256(content),
        "list": {"name": name, "frozen_at": timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ")},
        "provenance": content["provenance"],
    }


def about(
    rounds: list[Round], labels: LabelSet, consolidation: Consolidation, held: Sequence[GateResult]
) -> dict[str, Any]:
    """Return the part of the manifest about the origin of the labels: rule, rounds, merge and warnings."""
    agreement = {one.pk: agreement_summary.agreement(one) for one in rounds}
    gate = {one.round.pk: one.answer.as_json() for one in held}
    stale = baselines.count_stale(rounds)
    merge = {
        "rated_again": labels.merged.rated_again,
        "changed": len(labels.merged.changes),
        "bridges": [bridge.as_json() for bridge in labels.merged.bridges],
    }
    return {
        "assay_manifest": 1,
        "consolidation": {
            **consolidation.as_json(),
            "unrateable": consolidation.unrateable,
            "tie": "lower",
            **({"label_sources": list(consolidation.named)} if consolidation.named else {}),
        },
        "counts": {**_counts(rounds, labels), "stale": stale},
        "options": OPTIONS,
        "scale": scale_of(rounds),
        "rounds": [
            {
                "name": one.name,
                "guidelines_version": one.guidelines.number,
                **({"dimension": one.dimension} if one.dimension else {}),
                "agreement": agreement[one.pk],
                **({"gate": gate[one.pk]} if one.pk in gate else {}),
            }
            for one in rounds
        ],
        **({"merge": merge} if len(rounds) > 1 else {}),
        "warnings": [*doubts(labels, consolidation, stale), *(one.warning for one in held if one.warning)],
    }


def summary(manifest: dict[str, Any], labels: LabelSet) -> dict[str, Any]:
    """Return the numbers that lists of snapshots show."""
    return {
        "labels": len(labels.labels),
        "queries": manifest["counts"]["queries"],
        "by_grade": {str(grade): number for grade, number in labels.by_grade.items()},
        "conflicts": labels.conflicts,
        "adjudicated": labels.adjudicated,
    }


def _counts(rounds: list[Round], labels: LabelSet) -> dict[str, int]:
    return {
        "labels": len(labels.labels),
        "queries": len({label.query_id for label in labels.labels}),
        "ratings": labels.ratings,
        "raters": len({rater for round_ in rounds for rater in round_labels.pseudonyms(round_)}),
        "unrated_omitted": labels.without_rating - labels.zeroed,
        "unrateable": labels.unrateable,
        "unrateable_as_zero": labels.zeroed,
        "conflicts": labels.conflicts,
        "adjudicated": labels.adjudicated,
        "carried": len(labels.carried),
        **({"by_machine": labels.by_machine} if labels.by_machine else {}),
        "left_open": labels.left_open,
    }


def doubts(labels: LabelSet, consolidation: Consolidation, stale: int) -> list[str]:
    """Return the warnings to review before freezing, as sentences without a period; gates are not included."""
    left_out = max(0, labels.without_rating - labels.zeroed - labels.by_machine)
    few = "Dawid-Skene estimates rater errors and needs about five grades per pair, but there are only"
    counted = [
        (len(labels.carried), "label", "carried from another pair, because these pairs were not judged themselves"),
        (
            labels.by_machine,
            "label",
            "given by a machine instead of a person and marked with 1 in the second column of the qrels",
        ),
        (labels.unresolved, "conflict", "unresolved and labeled by the label rule"),
        (labels.left_open, "pair", "with grades for which the label rule gives no label"),
        (left_out, "pair", "without a grade and therefore without a label"),
        (labels.zeroed, "unrateable pair", "labeled with the lowest grade"),
    ]
    merged = [(len(labels.merged.changes), "pair", "with a different label in a newer round, which takes precedence")]
    unbridged = labels.merged.unbridged if consolidation.merge == merging.NEWEST else []
    return [
        *_counted(counted),
        *([] if labels.few_for_errors is None else [f"{few} {labels.few_for_errors:.1f}"]),
        *_counted(merged),
        *(f"guidelines differ: {merging.in_words(bridge)}" for bridge in unbridged),
        *_counted([(stale, "pair", "whose document changed after the judgment")]),
    ]


def _counted(rows: Iterable[tuple[int, str, str]]) -> Iterator[str]:
    return (f"{amount(number, noun)} {words}" for number, noun, words in rows if number)
