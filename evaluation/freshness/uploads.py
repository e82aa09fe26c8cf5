"""Recording of an engine's unrated documents, or of the ids in its index, for freshness checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assay.core.errors import NotValid, UnreadableInput
from assay.staleness.rank_eval import NAME, of, read
from judgments.jobs.limited_process import read_at_once
from judgments.members import recorded_changes
from judgments.models import Collection, Declaration, Document, User

Kind = Declaration.Kind
MOST_BYTES = 32 * 1024 * 1024


def feed_unrated(collection: Collection, *, reply: Any, actor: User, name: str = "") -> Declaration:
    """Record a ``_rank_eval`` response; its unrated documents count as unjudged."""
    try:
        if isinstance(reply, bytes | str):
            result = read_at_once(read, reply, NAME, most=MOST_BYTES)
        else:
            result = of(reply, NAME)
    except UnreadableInput as error:
        raise NotValid(str(error), {"file": str(error), "unrated": str(error)}) from error
    known = set(collection.queries.filter(query_id__in=list(result.hits)).values_list("query_id", flat=True))
    strange = sorted(result.hits.keys() - known)
    if not known:
        first = f": {strange[0]}" if strange else ""
        message = f"No query of this response is in the collection{first}. Use the collection’s query ids as ids."
        raise NotValid(message, {"file": message, "unrated": message})
    data = result.as_json() | {"strange": strange[:100]}
    return recorded_changes.declare(collection, kind=Kind.UNRATED, note=name.strip() or NAME, data=data, actor=actor)


def feed_index(collection: Collection, *, doc_ids: Iterable[str], actor: User) -> Declaration:
    """Record the judged documents that are missing from the index, and the number of ids."""
    held = {doc_id for doc_id in doc_ids if doc_id}
    judged = set(Document.objects.filter(collection=collection, pairs__isnull=False).values_list("doc_id", flat=True))
    if not held:
        raise NotValid("The list is empty.", {"file": "Write one id per line.", "documents": "Send a list of ids."})
    if judged and not judged & held:
        message = "No judged document is in the list. Use the same ids as the runs."
        raise NotValid(message, {"file": message, "documents": message})
    data = {"documents": len(held), "gone": sorted(judged - held, key=str.encode)}
    return recorded_changes.declare(collection, kind=Kind.INDEX, data=data, actor=actor)


def ids_of(content: bytes) -> list[str]:
    """Return the ids of an uploaded file, as :func:`ids_in` reads them."""
    return read_at_once(ids_in, content, most=MOST_BYTES)


def ids_in(content: bytes) -> list[str]:
    """Read one id per line, without a byte order mark and line ends."""
    try:
        return [line.rstrip("\r\n") for line in content.decode("utf-8-sig").split("\n")]
    except UnicodeDecodeError as error:
        raise NotValid(
            f"The list is not UTF-8: {error}", {"file": "Save the file as UTF-8, with one id per line."}
        ) from error
