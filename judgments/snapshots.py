"""Snapshot downloads: who may read frozen labels, and the export of their files.

`judgments.freezing` freezes snapshots and `judgments.frozen` reads them. Their functions are also available here:
callers use ``snapshots.freeze``.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

from judgments import access, audit, carried
from judgments.core.errors import NotAllowed, NotFound
from judgments.freezing import freeze, preview
from judgments.frozen import FILES, MANIFEST, read_file
from judgments.models import Collection, Round, Snapshot, User

__all__ = [
    "FILES",
    "MANIFEST",
    "check_reader",
    "download",
    "export",
    "freeze",
    "is_withheld",
    "may_read_hashes",
    "preview",
    "read_file",
    "still_to_give",
    "told_to",
    "withheld_by",
]


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


def may_read_hashes(collection: Collection, reader: User) -> bool:
    """Whether hashes over labels may be shown: who knows all but a few labels finds those by hashing every guess."""
    rated = Round.objects.open_to(reader).filter(collection=collection)
    return not any(access.hidden_pairs(reader, round_).exists() for round_ in rated)


def told_to(reader: User, collection: Collection, body: dict[str, Any]) -> dict[str, Any]:
    """What a file or the API holds, with the hashes over labels null where the reader must not be told them."""
    return body if may_read_hashes(collection, reader) else _without_hashes(body)


def _without_hashes(told: Any, name: str = "") -> Any:
    if isinstance(told, dict):
        hidden = {"content_sha256", *(["sha256"] if name == "qrels" else [])}
        return {key: None if key in hidden else _without_hashes(value, key) for key, value in told.items()}
    return [_without_hashes(value, name) for value in told] if isinstance(told, list | tuple) else told


def _labels(snapshot: Snapshot) -> dict[str, dict[str, float]]:
    from judgments.formats.trec_qrels import load_qrels

    return load_qrels(read_file(snapshot, FILES["trec-qrels"]), path=f"{snapshot}/{FILES['trec-qrels']}").to_dict()


def download(snapshot: Snapshot, format: str, *, reader: User) -> tuple[str, bytes]:
    """What `export` answers, or the ``manifest``, for a reader who may have it; that they took it is on record.

    Raises
    ------
    NotAllowed
        See `check_reader`.
    NotFound
        There is no such format.
    """
    check_reader(snapshot, reader)
    if format == "manifest":
        found = f"{snapshot.collection.slug}-{MANIFEST}", read_file(snapshot, MANIFEST)
    else:
        found = export(snapshot, format)
    audit.record(
        "snapshots.download",
        f"{reader} downloaded {format} of snapshot {snapshot}",
        actor=reader,
        collection=snapshot.collection,
        target=snapshot,
        format=format,
    )
    return found


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
