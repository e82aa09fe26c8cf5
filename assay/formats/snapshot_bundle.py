"""Bundle of a snapshot: the content that its hash covers, and its files, which must agree with it.

``content.json`` is canonical JSON of labels, queries and provenance; its SHA-256 is the snapshot's ``content_sha256``.
Bundles of older versions do not contain it.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from assay.core.errors import UnreadableInput
from assay.core.text_rules import amount
from assay.formats.json_lines import DECODER, refuse_unstorable
from assay.formats.row_types import LabelRow, QueryRow

CONTENT = "content.json"
QRELS, LIST, QUERIES = "qrels.txt", "judgments.json", "queries.csv"
VERSION = 1
Files = Mapping[str, Callable[[], bytes]]


def canonical(content: Any) -> bytes:
    """Return canonical JSON: sorted keys, no spaces, UTF-8.

    Examples
    --------
    >>> canonical({"b": 1, "a": ["é", 0.5]}).decode()
    '{"a":["é",0.5],"b":1}'
    """
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def guidelines_file(version: int) -> str:
    """Return the name of the file with the text of a guidelines version."""
    return f"guidelines-{version}.md"


@dataclass(frozen=True)
class SnapshotBundle(Sequence[LabelRow]):
    """A verified bundle, as a sequence of its labels."""

    manifest: dict[str, Any]
    content: dict[str, Any]
    labels: list[LabelRow]
    queries: list[QueryRow]

    def __len__(self) -> int:
        return len(self.labels)

    @overload
    def __getitem__(self, index: int) -> LabelRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[LabelRow]: ...
    def __getitem__(self, index: int | slice) -> LabelRow | list[LabelRow]:
        return self.labels[index]

    def __iter__(self) -> Iterator[LabelRow]:
        return iter(self.labels)


def content_faults(manifest: Mapping[str, Any], files: Files, path: str) -> list[str]:
    """Return how the files of a bundle differ from the content that its hash covers; none for older bundles."""
    if CONTENT not in files:
        return []
    from assay.formats.queries import write_queries_csv as write_csv

    body = files[CONTENT]()
    if hashlib.sha256(body).hexdigest() != manifest.get("content_sha256"):
        return [f"the SHA-256 of {CONTENT} is not content_sha256 of the manifest"]
    content = _decoded(body, f"{path}/{CONTENT}")
    faults = []
    if manifest.get("provenance") != content["provenance"]:
        faults.append(f"provenance in the manifest is not that of {CONTENT}")
    labels = {(query_id, doc_id): (grade, origin) for query_id, doc_id, grade, origin in content["labels"]}
    if QRELS in files:
        rows = _rows("trec-qrels", QRELS, files)
        if {(row.query_id, row.doc_id): (row.grade, row.origin) for row in rows} != labels:
            faults.append(f"the labels of {QRELS} are not those of {CONTENT}")
    if LIST in files:
        listed = {(row.query_id, row.doc_id): row.grade for row in _rows("judgment-list", LIST, files)}
        if listed != {pair: grade for pair, (grade, _) in labels.items()}:
            faults.append(f"the labels of {LIST} are not those of {CONTENT}")
    if QUERIES in files:
        texts = {row.query_id: row.query for row in _rows("queries-csv", QUERIES, files)}
        # A table cannot express every text: compare with what it makes of the content's.
        written = io.BytesIO()
        write_csv([QueryRow(one["query_id"], one["query"]) for one in content["queries"]], written)
        if texts != {row.query_id: row.query for row in _rows("queries-csv", QUERIES, {QUERIES: written.getvalue})}:
            faults.append(f"the queries of {QUERIES} are not those of {CONTENT}")
    known = {one["guidelines_sha256"] for one in content["provenance"]["rounds"]}
    for name in files:
        if name.startswith("guidelines-") and hashlib.sha256(files[name]()).hexdigest() not in known:
            faults.append(f"{name} is not the guidelines of any round in {CONTENT}")
    return faults


def read_bundle(files: Files, path: str) -> SnapshotBundle:
    """Return a bundle whose files agree with its manifest and its hash; refuse any other."""
    from assay.formats.manifest import FILE, verify_files

    check = verify_files(files, path)
    differences = [f"{what}: {name}" for what in ("missing", "extra", "different") for name in getattr(check, what)]
    if differences or check.content:
        shown = "; ".join([*check.content, *differences][:3])
        raise UnreadableInput(
            path, None, f"does not match its manifest ({shown})", "export or download it again", "F06"
        )
    if CONTENT not in files:
        fix = f"import its {QRELS} and {QUERIES} instead, or freeze the rounds again and export that snapshot"
        raise UnreadableInput(path, None, f"has no {CONTENT}, because an older version exported it", fix, "F06")
    if missing := [name for name in (QRELS, QUERIES) if name not in files]:
        raise UnreadableInput(path, None, f"has no {missing[0]}", "export it again", "F06")
    content = _decoded(files[CONTENT](), f"{path}/{CONTENT}")
    return SnapshotBundle(
        DECODER.decode(files[FILE]().decode()),
        content,
        _rows("trec-qrels", QRELS, files),
        _rows("queries-csv", QUERIES, files),
    )


def _rows(format: str, name: str, files: Files) -> list[Any]:
    from assay.formats import FORMATS

    return list(FORMATS[format].read(files[name](), path=name).strict().rows)


def _decoded(body: bytes, path: str) -> dict[str, Any]:
    """Return the content if its parts have the right types."""
    try:
        content = DECODER.decode(body.decode())
        refuse_unstorable(content)
    except (RecursionError, ValueError) as error:
        raise UnreadableInput(path, None, f"is not usable JSON: {error}", "export the bundle again", "F05") from error
    if problem := _problem(content):
        raise UnreadableInput(path, None, problem, "export the bundle again", "F06")
    typed: dict[str, Any] = content
    return typed


def _problem(content: Any) -> str:
    if not isinstance(content, dict) or content.get("assay_content") != VERSION:
        return "is not the content of a snapshot that this version reads"
    labels, queries, provenance = (content.get(name) for name in ("labels", "queries", "provenance"))
    if not isinstance(labels, list) or not all(_is_label(one) for one in labels):
        return "has labels that are not [query_id, doc_id, grade, origin]"
    if not isinstance(queries, list) or not all(_has_text(one) for one in queries):
        return "has queries without query_id and query"
    rounds = provenance.get("rounds") if isinstance(provenance, dict) else None
    if not isinstance(rounds, list) or not all(isinstance(one, dict) and "guidelines_sha256" in one for one in rounds):
        return "has no provenance of its rounds"
    pairs = {(query_id, doc_id) for query_id, doc_id, _, _ in labels}
    if len(pairs) < len(labels):
        return f"has {amount(len(labels) - len(pairs), 'duplicate label')}"
    return ""


def _is_label(one: Any) -> bool:
    return (
        isinstance(one, list)
        and len(one) == 4
        and all(isinstance(one[place], str) for place in (0, 1, 3))
        and type(one[2]) is int
    )


def _has_text(one: Any) -> bool:
    return isinstance(one, dict) and all(isinstance(one.get(name), str) for name in ("query_id", "query"))
