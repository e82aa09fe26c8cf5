"""Few-shot examples: choose pairs graded by people to show a model, none of them among those it will judge."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass

from judgments.core.amounts import amount
from judgments.core.errors import NotValid
from judgments.frozen import FILES, read_file
from judgments.judges.graded import Example
from judgments.models import Document, Query, Round, Snapshot
from judgments.models.snapshot import HUMAN

Key = tuple[str, str]


@dataclass(frozen=True)
class Chosen:
    """The examples with their pairs, which the judge is never asked about."""

    examples: tuple[Example, ...]
    keys: tuple[Key, ...]


def choose(snapshot: Snapshot, round_: Round, number: int, *, seed: int) -> Chosen:
    """Draw examples from frozen labels of people, each grade in turn.

    Parameters
    ----------
    snapshot : Snapshot
        Whose human labels; those of machines and from elsewhere are left out.
    round_ : Round
        What is to be judged: none of its queries is taken, so that neither its pairs nor their neighbours are told.
    number : int
        How many.
    seed : int
        Of the draw.

    Raises
    ------
    NotValid
        The snapshot is of another collection or scale, or has too few labels for other queries.
    """
    if snapshot.collection_id != round_.collection_id:
        raise NotValid("This snapshot is of another collection.", {"snapshot": "Choose one of this collection."})
    scale = set(round_.scale.values())
    asked = set(round_.pairs.values_list("query__query_id", flat=True).distinct())
    by_grade: dict[int, list[Key]] = defaultdict(list)
    for query_id, doc_id, grade in _human(snapshot):
        if query_id not in asked and grade in scale:
            by_grade[grade].append((query_id, doc_id))
    drawn = _in_turn(by_grade, seed)
    found: list[tuple[Key, Example]] = []
    for key, grade in drawn:
        if len(found) == number:
            break
        if (example := _example(snapshot, key, grade)) is not None:
            found.append((key, example))
    if len(found) < number:
        said = f"{snapshot} has {amount(len(found), 'label')} of people for queries that this round does not ask about."
        raise NotValid(f"{said} Take fewer examples, or another snapshot.", {"examples": said})
    return Chosen(tuple(example for _, example in found), tuple(key for key, _ in found))


def _human(snapshot: Snapshot) -> list[tuple[str, str, int]]:
    """The rows of people alone: column 2 of our qrels says where a label comes from."""
    content = read_file(snapshot, FILES["trec-qrels"])
    rows = (line.split() for line in content.decode().splitlines())
    return [(row[0], row[2], int(row[3])) for row in rows if len(row) == 4 and row[1] == HUMAN]


def _in_turn(by_grade: dict[int, list[Key]], seed: int) -> list[tuple[Key, int]]:
    """The pairs of each grade in a drawn order, one of each grade after the other."""
    for keys in by_grade.values():
        keys.sort(key=lambda key: hashlib.sha256(f"{seed}\0{key[0]}\0{key[1]}".encode()).digest())
    longest = max((len(keys) for keys in by_grade.values()), default=0)
    grades = sorted(by_grade)
    return [(by_grade[grade][at], grade) for at in range(longest) for grade in grades if at < len(by_grade[grade])]


def _example(snapshot: Snapshot, key: Key, grade: int) -> Example | None:
    """The pair's texts; None where the document has none."""
    document = Document.of_any_kind.filter(collection=snapshot.collection_id, doc_id=key[1], stub=False).first()
    if document is None:
        return None
    queries = Query.of_any_kind.filter(pairs__document=document) if document.is_answer else Query.objects.all()
    query = queries.filter(collection=snapshot.collection_id, query_id=key[0]).first()
    if query is None:
        return None
    text = "\n".join(part for part in (document.title, document.text) if part)
    return Example(query.text, text[:4_000], grade) if text.strip() else None
