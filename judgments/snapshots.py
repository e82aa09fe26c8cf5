"""How are labels frozen, and how do they leave the house?

A snapshot is files in storage plus one row. Its identity is ``content_sha256``, over labels, queries and provenance,
with no name, clock time or pseudonym in it: the same inputs give the same hash on every machine and database.
"""

from __future__ import annotations

import hashlib
import io
import uuid as uuid_module
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from judgments import access, audit, baselines, bundle, carried, reliability, storage
from judgments.core.amounts import amount
from judgments.core.errors import AssayError, Conflict, NotAllowed, NotFound, NotValid
from judgments.core.ids import id_fault
from judgments.labels import Consolidation, Settled, settle_labels
from judgments.models import Collection, Judgment, Pair, Round, Snapshot, User

MANIFEST = "manifest.json"
FILES = bundle.FILES


def preview(
    collection: Collection,
    *,
    rounds: Sequence[Round],
    rule: str = "median",
    sources: Sequence[str] = ("human",),
    merge: str = "newest",
    named: Sequence[str] = (),
) -> Settled:
    """What would be frozen: labels, ties, conflicts that only the rule decides, pairs without a rating."""
    return settle_labels(collection, rounds, rule=rule, merge=merge, sources=sources, named=named)


def freeze(
    collection: Collection,
    *,
    name: str,
    rounds: Sequence[Round],
    actor: User,
    rule: str = "median",
    sources: Sequence[str] = ("human",),
    merge: str = "newest",
    named: Sequence[str] = (),
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
    rule, sources, merge, named
        As :func:`judgments.labels.settle_labels` takes them; they become part of the provenance.
    override_reason : str
        Why a lead froze in spite of a warning.

    Raises
    ------
    NotValid
        No labels, or rounds that do not go together.
    Conflict
        The name is taken, or the actor still rates pairs of which the labels would tell the others' grades.
    """
    name = name.strip()
    if not name:
        raise NotValid("A snapshot needs a name.", {"name": "For example: autumn-1."})
    if fault := id_fault(name):
        raise NotValid(f"The name {fault[1]}.", {"name": f"It {fault[1]}. Write it in letters, digits and signs."})
    how = Consolidation(rule, tuple(sources), merge, tuple(named))
    taken = f"There is a snapshot called {name} already. Take another name."
    if collection.snapshots.filter(name=name).exists():
        raise Conflict(taken)
    try:
        with transaction.atomic():
            return _freeze(collection, name, _locked(rounds), actor, how, override_reason)
    except IntegrityError as error:
        raise Conflict(taken) from error  # another one of that name was frozen at the same moment


def _locked(rounds: Sequence[Round]) -> list[Round]:
    """The rounds as they are now, with their pairs: no answer or settlement comes between the files of one bundle."""
    # By key, as answers lock them; raters may go on asking for pairs.
    list(Pair.objects.select_for_update(no_key=True).filter(round__in=rounds).order_by("pk").values_list("pk"))
    rows = Round.objects.select_for_update(of=("self",)).filter(pk__in=[round_.pk for round_ in rounds])
    return list(rows.select_related("scale", "guidelines", "collection"))


def _freeze(
    collection: Collection, name: str, rounds: list[Round], actor: User, how: Consolidation, override_reason: str
) -> Snapshot:
    _refuse_to_unblind(rounds, actor)
    settled = settle_labels(collection, rounds, rule=how.rule, merge=how.merge, sources=how.sources, named=how.named)
    if not settled.labels:
        raise NotValid("There is nothing to freeze: no pair has a grade yet.", {"rounds": "Rate first."})
    snapshot = _write(collection, name, rounds, settled, actor, how, override_reason)
    snapshot.rounds.set(rounds)
    audit.record(
        "snapshots.freeze",
        f"{actor} froze snapshot {name} with {amount(len(settled.labels), 'label')}",
        actor=actor,
        collection=collection,
        target=snapshot,
        content_sha256=snapshot.content_sha256,
        override_reason=override_reason,
    )
    return snapshot


def _refuse_to_unblind(rounds: Sequence[Round], actor: User) -> None:
    """A lead who still rates in an open round would read the others' grades from the labels."""
    for round_ in rounds:
        if _others_grades(round_, actor).exists():
            raise Conflict(
                f"You still rate in {round_}, and its labels would tell you what others graded. "
                "Finish rating, or close the round first."
            )


def _others_grades(round_: Round, reader: User) -> QuerySet[Judgment]:
    """What others gave to the pairs that the reader may still have to grade."""
    hidden = access.hidden_pairs(reader, round_)
    return Judgment.objects.counted().filter(pair__in=hidden).exclude(rater=reader)


def check_reader(snapshot: Snapshot, reader: User) -> None:
    """That the labels tell the reader no grade of a pair that they may still have to grade themselves.

    In whatever round, and by whatever way the label came about: who rates a pair again, because a later round holds it
    too, rates it blind. Scores keep such queries back one by one; a file of labels is given whole, or not at all.

    Raises
    ------
    NotAllowed
        They do.
    """
    round_ = withheld_by(snapshot.collection, reader, lambda: _labels(snapshot))
    if round_ is not None:
        raise NotAllowed(
            f"You still rate in {round_}, and these labels hold grades of pairs that you may still be given. "
            "They are yours once you have finished rating, or once the round is closed."
        )


def withheld_by(
    collection: Collection, reader: User, labels: Callable[[], Mapping[str, Container[str]]]
) -> Round | None:
    """The open round in which the reader may still be given a pair whose grade these labels tell.

    Parameters
    ----------
    collection : Collection
        Whose labels.
    reader : User
        Who would see them.
    labels : callable
        Answers the labelled documents by query; asked only for a reader who rates.
    """
    return _telling(still_to_give(collection, reader), labels)


def still_to_give(collection: Collection, reader: User) -> list[tuple[Round, set[carried.Key]]]:
    """The open rounds in which the reader may still be given pairs, each with all that would tell theirs."""
    found = []
    for round_ in Round.objects.open_to(reader).filter(collection=collection):
        hidden = access.hidden_pairs(reader, round_).values_list("query__query_id", "document__doc_id")
        # A pair that is judged for another one, or beside another spelling, has the same grade as that.
        found.append((round_, carried.told_by(collection, hidden)))
    return found


def _telling(
    untold: Iterable[tuple[Round, set[carried.Key]]], labels: Callable[[], Mapping[str, Container[str]]]
) -> Round | None:
    found: Mapping[str, Container[str]] | None = None
    for round_, pairs in untold:
        for query_id, doc_id in pairs:
            found = labels() if found is None else found
            if doc_id in found.get(query_id, ()):
                return round_
    return None


def is_withheld(snapshot: Snapshot, untold: Iterable[tuple[Round, set[carried.Key]]]) -> bool:
    """Whether even the counts of its grades would tell too much to whom `still_to_give` names these pairs."""
    return _telling(untold, lambda: _labels(snapshot)) is not None


def _labels(snapshot: Snapshot) -> dict[str, dict[str, float]]:
    from judgments.formats.trec_qrels import load_qrels

    return load_qrels(read_file(snapshot, FILES["trec-qrels"]), path=f"{snapshot}/{FILES['trec-qrels']}").to_dict()


def _write(
    collection: Collection,
    name: str,
    rounds: list[Round],
    settled: Settled,
    actor: User,
    how: Consolidation,
    override_reason: str,
) -> Snapshot:
    """Put the bundle into storage, and the one row that points to it into the database."""
    from judgments.formats.manifest import manifest_bytes

    queries = bundle.judged_queries(collection, rounds, settled)
    content = bundle.content(queries, rounds, settled, how)
    freezing = baselines.Freezing(collection, rounds, queries, settled)
    files = bundle.files(queries, rounds, settled, freezing.hashes)
    manifest = {
        **_manifest(rounds, settled, how),
        "content_sha256": bundle.content_sha256(content),
        "files": bundle.entries(files),
        "list": {"name": name, "frozen_at": timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ")},
        "provenance": content["provenance"],
        "baseline": baselines.take(freezing),
        "override_reason": override_reason,
    }
    folder = f"snapshots/{uuid_module.uuid4().hex}"
    # The row first: a name that is taken meanwhile is refused before a file lies in storage.
    snapshot = Snapshot.objects.create(
        collection=collection,
        name=name,
        content_sha256=manifest["content_sha256"],
        rule=how.rule,
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
    for path, (_, body) in files.items():
        storage.keep(folder, path, body)
    storage.keep(folder, MANIFEST, manifest_bytes(manifest))
    return snapshot


def _manifest(rounds: list[Round], settled: Settled, how: Consolidation) -> dict[str, Any]:
    """What the manifest says about the judging, beside content, files and name."""
    agreement = [reliability.agreement(round_) for round_ in rounds]
    return {
        "assay_manifest": 1,
        "consolidation": {
            **how.as_json(),
            "tie": "lower",
            **({"label_sources": list(how.named)} if how.named else {}),
        },
        "counts": {
            "labels": len(settled.labels),
            "queries": len({label.query_id for label in settled.labels}),
            "ratings": settled.ratings,
            "raters": len({rater for round_ in rounds for rater in reliability.pseudonyms(round_)}),
            "unrated_omitted": settled.without_rating,
            "unrateable": settled.unrateable,
            "conflicts": settled.conflicts,
            "adjudicated": settled.adjudicated,
            "carried": len(settled.carried),
        },
        "options": {"csv_escape": "apostrophe", "encode_ids": False, "omit_unrated": True, "pseudonyms": True},
        "scale": bundle.scale_of(rounds),
        "rounds": [
            {"name": round_.name, "guidelines_version": round_.guidelines.number, "agreement": found}
            for round_, found in zip(rounds, agreement, strict=True)
        ],
        "warnings": _warnings(settled, agreement),
    }


def _warnings(settled: Settled, agreement: list[dict[str, Any]]) -> list[str]:
    found = []
    if settled.carried:
        found.append(
            f"{len(settled.carried)} labels are carried from another pair; nobody judged those pairs themselves"
        )
    if settled.unsettled:
        found.append(f"{settled.unsettled} conflicts were decided by the rule, not by a person")
    if settled.without_rating:
        found.append(f"{settled.without_rating} pairs have no grade and are not in the labels")
    for report in agreement:
        ordinal = report["alpha"]["ordinal"]
        if ordinal["value"] is None:
            found.append(f"agreement is not defined: {ordinal['reason']}")
    return found


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
    from judgments.formats.bundles import write_zip

    stream = io.BytesIO()
    paths = [MANIFEST, *(entry["path"] for entry in snapshot.manifest["files"])]
    write_zip({path: read_file(snapshot, path) for path in paths}, stream)
    return stream.getvalue()
