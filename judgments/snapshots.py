"""How are labels frozen, and how do they leave the house?

A snapshot is files in storage plus one row. Its identity is ``content_sha256``, over labels, queries and provenance,
with no name, clock time or pseudonym in it: the same inputs give the same hash on every machine and database.
"""

from __future__ import annotations

import hashlib
import io
import json
import uuid as uuid_module
import zipfile
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from django.db import transaction
from django.utils import timezone

from judgments import audit, reliability, storage
from judgments.core.errors import AssayError, Conflict, NotFound, NotValid
from judgments.labels import Settled, settle_labels
from judgments.models import Collection, Judgment, Query, Round, Snapshot, User

# Export format to the bundle's file. Formats are those of judgments.formats.
FILES = {
    "trec-qrels": "qrels.txt",
    "judgment-list": "judgments.json",
    "queries-csv": "queries.csv",
    "queries-tsv": "queries.tsv",
    "ratings-csv": "ratings.csv",
}
MANIFEST = "manifest.json"
CONTENT_VERSION = 1


def software() -> str:
    """The version that a snapshot is frozen with; part of its provenance."""
    try:
        return version("assay")
    except PackageNotFoundError:  # a checkout that was never installed
        return "0.1.0"


def preview(
    collection: Collection,
    *,
    rounds: Sequence[Round],
    rule: str = "median",
    sources: Sequence[str] = ("human",),
    merge: str = "newest",
) -> Settled:
    """What would be frozen: labels, ties, conflicts that only the rule decides, pairs without a rating."""
    return settle_labels(collection, rounds, rule=rule, merge=merge, sources=sources)


def freeze(
    collection: Collection,
    *,
    name: str,
    rounds: Sequence[Round],
    actor: User,
    rule: str = "median",
    sources: Sequence[str] = ("human",),
    merge: str = "newest",
    override_reason: str = "",
) -> Snapshot:
    """Freeze the labels of one or more rounds under a rule.

    Parameters
    ----------
    collection : Collection
        Where it belongs.
    name : str
        Once in the collection.
    rounds : sequence of Round
        Whose labels; of one scale.
    actor : User
        The lead who does it.
    rule, sources, merge
        As :func:`judgments.labels.settle_labels` takes them; they become part of the provenance.
    override_reason : str
        Why a lead froze in spite of a warning.

    Raises
    ------
    NotValid
        No labels, or rounds that do not go together.
    Conflict
        The name is taken.
    """
    name = name.strip()
    if not name:
        raise NotValid("A snapshot needs a name.", {"name": "For example: autumn-1."})
    if collection.snapshots.filter(name=name).exists():
        raise Conflict(f"There is a snapshot called {name} already. Take another name.")
    with transaction.atomic():
        # The rounds are locked, so that no answer arrives between the labels and the ratings of one bundle.
        rounds = list(
            Round.objects.select_for_update(of=("self",))
            .filter(pk__in=[round_.pk for round_ in rounds])
            .select_related("scale", "guidelines", "collection")
        )
        settled = settle_labels(collection, rounds, rule=rule, merge=merge, sources=sources)
        if not settled.labels:
            raise NotValid("There is nothing to freeze: no pair has a grade yet.", {"rounds": "Rate first."})
        snapshot = _write(collection, name, rounds, settled, actor, (rule, list(sources), merge), override_reason)
        snapshot.rounds.set(rounds)
        sentence = f"{actor} froze snapshot {name} with {len(settled.labels):,} labels"
        audit.record(
            "snapshots.freeze",
            sentence,
            actor=actor,
            collection=collection,
            target=snapshot,
            content_sha256=snapshot.content_sha256,
            override_reason=override_reason,
        )
    return snapshot


def _write(
    collection: Collection,
    name: str,
    rounds: list[Round],
    settled: Settled,
    actor: User,
    rules: tuple[str, list[str], str],
    override_reason: str,
) -> Snapshot:
    from judgments.formats.manifest import file_entry, manifest_bytes

    queries = _queries(collection, rounds, settled)
    content = _content(queries, rounds, settled, rules)
    content_sha256 = hashlib.sha256(_canonical(content)).hexdigest()
    files = _bundle(queries, rounds, settled)
    now = timezone.now()
    agreement = {str(round_.uuid): reliability.agreement(round_) for round_ in rounds}
    manifest = {
        "assay_manifest": 1,
        "content_sha256": content_sha256,
        "consolidation": {"rule": rules[0], "tie": "lower", "sources": rules[1], "merge": rules[2]},
        "counts": {
            "labels": len(settled.labels),
            "queries": len({label.query_id for label in settled.labels}),
            "ratings": settled.ratings,
            "raters": len({rater for round_ in rounds for rater in reliability.pseudonyms(round_)}),
            "unrated_omitted": settled.without_rating,
            "unrateable": settled.unrateable,
            "conflicts": settled.conflicts,
            "adjudicated": settled.adjudicated,
        },
        "files": [file_entry(path, FORMAT_OF[path], rows, content) for path, (rows, content) in sorted(files.items())],
        "list": {"name": name, "frozen_at": now.strftime("%Y-%m-%dT%H:%M:%SZ")},
        "options": {"csv_escape": "apostrophe", "encode_ids": False, "omit_unrated": True, "pseudonyms": True},
        "scale": _scale(rounds),
        "provenance": content["provenance"],
        "rounds": [{"name": round_.name, "agreement": agreement[str(round_.uuid)]} for round_ in rounds],
        "override_reason": override_reason,
        "warnings": _warnings(settled, agreement),
    }
    folder = f"snapshots/{uuid_module.uuid4().hex}"
    for path, (_, body) in files.items():
        storage.keep(folder, path, body)
    storage.keep(folder, MANIFEST, manifest_bytes(manifest))
    return Snapshot.objects.create(
        collection=collection,
        name=name,
        content_sha256=content_sha256,
        rule=rules[0],
        folder=folder,
        manifest=manifest,
        summary={
            "labels": len(settled.labels),
            "queries": manifest["counts"]["queries"],
            "by_grade": {str(grade): number for grade, number in settled.by_grade.items()},
            "conflicts": settled.conflicts,
            "adjudicated": settled.adjudicated,
        },
        override_reason=override_reason,
        created_by=actor,
    )


FORMAT_OF = {path: name for name, path in FILES.items()}


def _queries(collection: Collection, rounds: list[Round], settled: Settled) -> list[Query]:
    """Every query that was up for judging or has a label, by the bytes of its id."""
    labelled = {label.query_id for label in settled.labels}
    judged = Query.objects.filter(pairs__round__in=rounds).distinct().select_related("sample")
    rest = collection.queries.filter(query_id__in=labelled).select_related("sample")
    return sorted({*judged, *rest}, key=lambda query: query.query_id.encode())


def _content(
    queries: list[Query], rounds: list[Round], settled: Settled, rules: tuple[str, list[str], str]
) -> dict[str, Any]:
    """All that the hash covers, as plain JSON values."""
    samples = {query.sample for query in queries if query.sample}
    return {
        "assay_content": CONTENT_VERSION,
        "labels": [[label.query_id, label.doc_id, label.grade, label.column] for label in settled.labels],
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
            }
            for query in queries
        ],
        "provenance": {
            "sampling": sorted((_sampling(sample) for sample in samples), key=_canonical),
            "rounds": sorted((_round_content(round_) for round_ in rounds), key=_canonical),
            "consolidation": {"rule": rules[0], "sources": sorted(rules[1]), "merge": rules[2]},
            "software": software(),
        },
    }


def _sampling(sample: Any) -> dict[str, Any]:
    return {
        "log_sha256": sample.log_sha256,
        "method": sample.method,
        "seed": sample.seed,
        "parameters": sample.parameters,
        "frame": sample.frame,
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


def _canonical(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _scale(rounds: list[Round]) -> dict[str, Any]:
    if not rounds:
        return {"grades": [], "labels": []}
    grades = list(rounds[0].scale.grades.all())
    return {"grades": [grade.value for grade in grades], "labels": [grade.label for grade in grades]}


def _warnings(settled: Settled, agreement: dict[str, Any]) -> list[str]:
    found = []
    if settled.unsettled:
        found.append(f"{settled.unsettled} conflicts were decided by the rule, not by a person")
    if settled.without_rating:
        found.append(f"{settled.without_rating} pairs have no grade and are not in the labels")
    for report in agreement.values():
        ordinal = report["alpha"]["ordinal"]
        if ordinal["value"] is None:
            found.append(f"agreement is not defined: {ordinal['reason']}")
    return found


def _bundle(queries: list[Query], rounds: list[Round], settled: Settled) -> dict[str, tuple[int, bytes]]:
    """The files, each with its number of rows."""
    from judgments.formats import FORMATS
    from judgments.formats.rows import LabelRow, QueryRow

    text = {query.query_id: query.text for query in queries}
    labels = [
        LabelRow(label.query_id, label.doc_id, label.grade, label.column, text[label.query_id])
        for label in settled.labels
    ]
    rows_of_queries = [
        QueryRow(
            query.query_id,
            query.text,
            query.narrative,
            query.group,
            query.tier,
            query.frequency,
            query.clients,
            query.probability,
            query.weight,
        )
        for query in queries
    ]
    rows = {
        "trec-qrels": labels,
        "judgment-list": labels,
        "queries-csv": rows_of_queries,
        "queries-tsv": rows_of_queries,
        "ratings-csv": list(_ratings(rounds)),
    }
    return {FILES[name]: (len(part), _written(FORMATS[name].write, part)) for name, part in rows.items()}


def _written(write: Any, rows: Sequence[Any]) -> bytes:
    stream = io.BytesIO()
    write(rows, stream)
    return stream.getvalue()


def _ratings(rounds: list[Round]) -> Iterable[Any]:
    """Every current answer, with pseudonyms that hold across the rounds of the bundle."""
    from judgments.formats.rows import RatingRow

    names = _pseudonyms(rounds)
    current = Judgment.objects.current().filter(pair__round__in=rounds)
    current = current.select_related("pair__query", "pair__document", "pair__round__guidelines")
    for judgment in current.order_by("pk").iterator(chunk_size=2000):
        yield RatingRow(
            judgment.pair.query.query_id,
            judgment.pair.document.doc_id,
            names[judgment.rater_id],
            judgment.grade,
            state=judgment.state,
            query=judgment.pair.query.text,
            source="human",
            guideline=str(judgment.pair.round.guidelines.number),
            rated_at=judgment.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            ms_active=None if judgment.seconds_active is None else round(judgment.seconds_active * 1000),
            note=judgment.note,
        )


def _pseudonyms(rounds: list[Round]) -> dict[int, str]:
    """The newest round's pseudonyms as they are; raters of older rounds get the next free numbers."""
    names: dict[int, str] = {}
    for round_ in sorted(rounds, key=lambda row: row.created_at, reverse=True):
        for rater, pseudonym in sorted(reliability.pseudonyms(round_).items(), key=lambda row: row[1]):
            free = pseudonym if pseudonym not in names.values() else f"r{len(names) + 1:02d}"
            names.setdefault(rater, free)
    return names


def read_file(snapshot: Snapshot, path: str) -> bytes:
    """One file of the bundle, checked against the manifest each time that it leaves the house.

    Raises
    ------
    NotFound
        The bundle has no such file.
    AssayError
        The stored bytes are not the ones that were frozen.
    """
    if path == MANIFEST:
        return storage.read_bytes(f"{snapshot.folder}/{MANIFEST}")
    entry = next((entry for entry in snapshot.manifest["files"] if entry["path"] == path), None)
    if entry is None:
        raise NotFound(f"This snapshot has no file {path}.")
    body = storage.read_bytes(f"{snapshot.folder}/{path}")
    if hashlib.sha256(body).hexdigest() != entry["sha256"]:
        raise AssayError(f"{path} of snapshot {snapshot} is not what was frozen: its hash differs. Restore it.")
    return body


def export(snapshot: Snapshot, format: str) -> tuple[str, bytes]:
    """The file of one format, or all of them with the manifest as ``bundle``; answers file name and bytes."""
    if format == "bundle":
        return f"{_file_name(snapshot)}.zip", _zipped(snapshot)
    if format not in FILES:
        raise NotFound(f"There is no export {format!r}; known: {', '.join([*FILES, 'bundle'])}.")
    return f"{_file_name(snapshot)}-{FILES[format]}", read_file(snapshot, FILES[format])


def _file_name(snapshot: Snapshot) -> str:
    kept = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in snapshot.name)
    return f"{snapshot.collection.slug}-{kept}"


def _zipped(snapshot: Snapshot) -> bytes:
    """A zip with the same bytes each time: sorted entries, one fixed date."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted([MANIFEST, *(entry["path"] for entry in snapshot.manifest["files"])]):
            info = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, read_file(snapshot, path))
    return stream.getvalue()
