"""Frozen labels of a snapshot: their visibility, their values, and the export of their files.

`judgments.snapshots.freezing` freezes snapshots and `judgments.labels.snapshot_files` reads them. Their functions are
also available here.
"""

from __future__ import annotations

import io
import uuid as uuid_module
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from assay.core.counted_nouns import amount
from assay.core.errors import Conflict, NotAllowed, NotFound, NotValid
from assay.core.ids import id_fault
from judgments.agreement import freeze_gate
from judgments.agreement.freeze_gate import GateResult
from judgments.hooks import SNAPSHOT_LISTENERS
from judgments.jobs import storage
from judgments.labels import grade_visibility
from judgments.labels.snapshot_files import FILES, MANIFEST, read_file
from judgments.models import Collection, Judgment, Pair, Round, Snapshot, User, audit
from judgments.snapshots import baselines, bundle, merging
from judgments.snapshots import manifest as manifests
from judgments.snapshots.final_labels import EXCLUDED, Consolidation, LabelSet, compute_labels

if TYPE_CHECKING:
    from assay.core.qrels import Qrels


@dataclass(frozen=True)
class _Request:
    """A request to freeze: the user, the settings, and the reason for freezing despite a warning."""

    collection: Collection
    name: str
    actor: User
    how: Consolidation
    override_reason: str


def preview(
    collection: Collection,
    *,
    rounds: Sequence[Round],
    rule: str = "median",
    sources: Sequence[str] = ("human",),
    merge: str = merging.NEWEST,
    named: Sequence[str] = (),
    unrateable: str = EXCLUDED,
    judge: str = "",
) -> LabelSet:
    """Return the labels that would be frozen, with ties, conflicts that only the rule decides, and unrated pairs."""
    how = {"rule": rule, "merge": merge, "sources": sources, "named": named, "unrateable": unrateable}
    how["judge"] = judge
    return compute_labels(collection, rounds, **how)  # type: ignore[arg-type]


def freeze(
    collection: Collection,
    *,
    name: str,
    rounds: Sequence[Round],
    actor: User,
    rule: str = "median",
    sources: Sequence[str] = ("human",),
    merge: str = merging.NEWEST,
    named: Sequence[str] = (),
    unrateable: str = EXCLUDED,
    judge: str = "",
    override_reason: str = "",
) -> Snapshot:
    """Freeze the labels of one or more rounds under a rule."""
    name = name.strip()
    if not name:
        raise NotValid("The name of the snapshot is missing.", {"name": "Enter a name, for example autumn-1."})
    if fault := id_fault(name):
        raise NotValid(f"The name {fault[1]}.", {"name": f"The name {fault[1]}. Use letters, digits and punctuation."})
    how = Consolidation(rule, tuple(sources), merge, tuple(named), unrateable, judge)
    taken = f"A snapshot named {name} already exists. Choose another name."
    if collection.snapshots.filter(name=name).exists():
        raise Conflict(taken, "name")
    # Compute this before locking rows; the call below then uses the cache.
    freeze_gate.evaluate_gates(rounds, how.sources)
    try:
        with transaction.atomic():
            frozen = _freeze(_Request(collection, name, actor, how, override_reason.strip()), _locked(rounds))
            for tell in SNAPSHOT_LISTENERS:
                transaction.on_commit(partial(tell, frozen, actor))
            return frozen
    except IntegrityError as error:
        # Another snapshot with this name was frozen at the same time.
        raise Conflict(taken, "name") from error


def _locked(rounds: Sequence[Round]) -> list[Round]:
    """Lock the rounds and their pairs, so that no answer or resolution changes between the files of a bundle."""
    # In the order of keys, as answers lock them. Raters can still lease pairs.
    list(Pair.objects.select_for_update(no_key=True).filter(round__in=rounds).order_by("pk").values_list("pk"))
    rows = Round.objects.select_for_update(of=("self",)).filter(pk__in=[round_.pk for round_ in rounds])
    return list(rows.select_related("scale", "guidelines", "collection"))


def _freeze(request: _Request, rounds: list[Round]) -> Snapshot:
    _refuse_to_unblind(rounds, request.actor)
    how = request.how
    settled = preview(
        request.collection,
        rounds=rounds,
        rule=how.rule,
        merge=how.merge,
        sources=how.sources,
        named=how.named,
        unrateable=how.unrateable,
        judge=how.judge,
    )
    if not settled.labels:
        raise NotValid("No pair has a grade yet, so there is nothing to freeze.", {"rounds": "Rate some pairs first."})
    merging.check_bridges(settled.merged, how.merge)
    held = freeze_gate.evaluate_gates(rounds, how.sources)
    freeze_gate.check(held, request.override_reason)
    snapshot = _write(request, rounds, settled, held)
    snapshot.rounds.set(rounds)
    audit.record(
        "snapshots.freeze",
        f"{request.actor} froze snapshot {request.name} with {amount(len(settled.labels), 'label')}",
        actor=request.actor,
        collection=request.collection,
        target=snapshot,
        content_sha256=snapshot.content_sha256,
        override_reason=request.override_reason,
    )
    return snapshot


def _refuse_to_unblind(rounds: Sequence[Round], actor: User) -> None:
    """Refuse a lead who still rates in an open round, because the labels would reveal other raters' grades."""
    for round_ in rounds:
        if _others_grades(round_, actor).exists():
            raise Conflict(
                f"You still rate in {round_}, and its labels would reveal other raters' grades. Finish rating, or "
                "close the round first."
            )


def _others_grades(round_: Round, reader: User) -> QuerySet[Judgment]:
    """Return other raters' grades of pairs that the reader may still grade."""
    hidden = grade_visibility.hidden_pairs(reader, round_)
    return Judgment.objects.counted().filter(pair__in=hidden).exclude(rater=reader)


def _write(request: _Request, rounds: list[Round], settled: LabelSet, held: Sequence[GateResult]) -> Snapshot:
    """Store the bundle, and the row that refers to it."""
    from assay.formats.manifest import manifest_bytes

    queries = bundle.judged_queries(request.collection, rounds, settled)
    content = bundle.content(queries, rounds, settled, request.how)
    freezing = baselines.Freezing(request.collection, rounds, queries, settled)
    files = bundle.files(queries, rounds, settled, freezing.hashes)
    manifest = {
        **manifests.about(rounds, settled, request.how, held),
        **manifests.identity(request.name, content, files),
        "baseline": baselines.take(freezing),
        "override_reason": request.override_reason,
    }
    folder = f"snapshots/{uuid_module.uuid4().hex}"
    # Create the row first, so that a name that was taken in the meantime is refused before a file is stored.
    snapshot = Snapshot.objects.create(
        collection=request.collection,
        name=request.name,
        content_sha256=manifest["content_sha256"],
        rule=request.how.rule,
        folder=folder,
        manifest=manifest,
        summary=manifests.summary(manifest, settled),
        override_reason=request.override_reason,
        created_by=request.actor,
    )
    for path, (_, body) in files.items():
        storage.keep(folder, path, body)
    storage.keep(folder, MANIFEST, manifest_bytes(manifest))
    return snapshot


# Labels of a snapshot never change, so smaller ones are cached, because every opened query reads them again.
CACHED_LABELS = 200_000
CACHE_SECONDS = 600

__all__ = [
    "FILES",
    "MANIFEST",
    "check_reader",
    "chosen_snapshot",
    "download",
    "export",
    "freeze",
    "labels_of",
    "preview",
    "qrels_of",
    "read_file",
    "redacted_for",
    "withheld_queries",
]


def check_reader(snapshot: Snapshot, reader: User) -> None:
    """Refuse a reader who may still grade a pair whose label the snapshot contains, in any round."""
    round_ = grade_visibility.hiding_round(reader, snapshot.collection, lambda: labels_of(snapshot))
    if round_ is not None:
        raise NotAllowed(
            f"You still rate in {round_}, and these labels contain grades of pairs that you may still grade. You can "
            "read them after you finish rating, or after the round closes."
        )


def withheld_queries(
    reader: User, snapshot: Snapshot, hidden: set[grade_visibility.Key] | None = None
) -> frozenset[str]:
    """Return the queries whose labels and scores the reader may not see; `hidden` saves computing their keys again."""
    keys = grade_visibility.hidden_keys(reader, snapshot.collection) if hidden is None else hidden
    return grade_visibility.withheld_queries(keys, lambda: labels_of(snapshot))


def redacted_for(reader: User, collection: Collection, body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a file or an API response, with hashes over labels null if the reader may not see them."""
    return body if grade_visibility.may_read_hashes(reader, collection) else _without_hashes(body)


def _without_hashes(body: Any, name: str = "") -> Any:
    if isinstance(body, dict):
        hidden = {"content_sha256", *(["sha256"] if name == "qrels" else [])}
        return {key: None if key in hidden else _without_hashes(value, key) for key, value in body.items()}
    return [_without_hashes(value, name) for value in body] if isinstance(body, list | tuple) else body


def qrels_of(snapshot: Snapshot) -> Qrels:
    """Return the snapshot's labels, read from its qrels file, whose hash is checked."""
    from assay.formats.trec_qrels import load_qrels

    return load_qrels(read_file(snapshot, FILES["trec-qrels"]), path=f"{snapshot}/{FILES['trec-qrels']}")


def labels_of(snapshot: Snapshot) -> Mapping[str, Mapping[str, float]]:
    """Return the snapshot's labels by query and document."""
    key = f"labels:{snapshot.uuid}"
    labels: Mapping[str, Mapping[str, float]] | None = cache.get(key)
    if labels is None:
        labels = qrels_of(snapshot).to_dict()
        if snapshot.summary.get("labels", 0) <= CACHED_LABELS:
            cache.set(key, labels, CACHE_SECONDS)
    return labels


def chosen_snapshot(collection: Collection, uuid: str) -> Snapshot | None:
    """Return the snapshot with this id, or the newest one; None if there is no snapshot."""
    rows = collection.snapshots(manager="of_documents").defer("manifest")
    if not uuid:
        return rows.first()
    snapshot = next((row for row in rows if str(row.uuid) == uuid), None)
    if snapshot is None:
        raise NotFound("This collection has no such snapshot.")
    return snapshot


def download(snapshot: Snapshot, format: str, *, reader: User) -> tuple[str, bytes]:
    """Return the file of `export`, or the ``manifest``, for a permitted reader, and record the download."""
    check_reader(snapshot, reader)
    if format == "manifest":
        file = f"{snapshot.collection.slug}-{MANIFEST}", read_file(snapshot, MANIFEST)
    else:
        file = export(snapshot, format)
    audit.record(
        "snapshots.download",
        f"{reader} downloaded {format} of snapshot {snapshot}",
        actor=reader,
        target=snapshot,
        format=format,
    )
    return file


def export(snapshot: Snapshot, format: str) -> tuple[str, bytes]:
    """Return file name and bytes of one format, or of all files with the manifest as ``bundle``."""
    if format == "bundle":
        return f"{_file_name(snapshot)}.zip", _zipped(snapshot)
    if format not in FILES:
        raise NotFound(f"Unknown export format {format!r}. Available formats: {', '.join([*FILES, 'bundle'])}.")
    return f"{_file_name(snapshot)}-{FILES[format]}", read_file(snapshot, FILES[format])


def _file_name(snapshot: Snapshot) -> str:
    safe_name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in snapshot.name)
    return f"{snapshot.collection.slug}-{safe_name}"


def _zipped(snapshot: Snapshot) -> bytes:
    from assay.formats.bundles import write_zip

    stream = io.BytesIO()
    paths = [MANIFEST, *(entry["path"] for entry in snapshot.manifest["files"])]
    write_zip({path: read_file(snapshot, path) for path in paths}, stream)
    return stream.getvalue()
