"""Few-shot examples: pairs with human grades for a prompt, none of which the judge will grade."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass

from assay.core.counted_nouns import amount
from assay.core.errors import NotValid
from assay.llm.judges.graded_relevance import Example
from judgments.labels.snapshot_files import FILES, read_file
from judgments.models import Document, Query, Round, Snapshot
from judgments.models.snapshot import HUMAN

Key = tuple[str, str]


@dataclass(frozen=True)
class Chosen:
    """The examples with their pairs, which the judge never grades."""

    examples: tuple[Example, ...]
    keys: tuple[Key, ...]


def choose(snapshot: Snapshot, round_: Round, number: int, *, seed: int) -> Chosen:
    """Draw examples from the human labels of a snapshot, alternating between the grades."""
    if snapshot.collection_id != round_.collection_id:
        raise NotValid(
            "This snapshot belongs to another collection.", {"snapshot": "Choose a snapshot of this collection."}
        )
    scale = set(round_.scale.values())
    query_ids = set(round_.pairs.values_list("query__query_id", flat=True).distinct())
    by_grade: dict[int, list[Key]] = defaultdict(list)
    for query_id, doc_id, grade in _human(snapshot):
        if query_id not in query_ids and grade in scale:
            by_grade[grade].append((query_id, doc_id))
    drawn = _in_turn(by_grade, seed)
    candidates: list[tuple[Key, Example]] = []
    for key, grade in drawn:
        if len(candidates) == number:
            break
        if (example := _example(snapshot, key, grade)) is not None:
            candidates.append((key, example))
    if len(candidates) < number:
        problem = f"{snapshot} has {amount(len(candidates), 'human label')} for queries outside this round."
        raise NotValid(f"{problem} Choose fewer examples or another snapshot.", {"examples": problem})
    return Chosen(tuple(example for _, example in candidates), tuple(key for key, _ in candidates))


def _human(snapshot: Snapshot) -> list[tuple[str, str, int]]:
    """Return the human labels; column 2 of Assay's qrels contains the label source."""
    content = read_file(snapshot, FILES["trec-qrels"])
    rows = (line.split() for line in content.decode().splitlines())
    return [(row[0], row[2], int(row[3])) for row in rows if len(row) == 4 and row[1] == HUMAN]


def _in_turn(by_grade: dict[int, list[Key]], seed: int) -> list[tuple[Key, int]]:
    """Return the pairs of each grade in random order, one grade after the other."""
    for keys in by_grade.values():
        keys.sort(key=lambda key: hashlib.sha256(f"{seed}\0{key[0]}\0{key[1]}".encode()).digest())
    longest = max((len(keys) for keys in by_grade.values()), default=0)
    grades = sorted(by_grade)
    return [(by_grade[grade][at], grade) for at in range(longest) for grade in grades if at < len(by_grade[grade])]


def _example(snapshot: Snapshot, key: Key, grade: int) -> Example | None:
    """Return the texts of the pair; None if the document has no text."""
    document = Document.of_any_kind.filter(collection=snapshot.collection_id, doc_id=key[1], stub=False).first()
    if document is None:
        return None
    queries = Query.of_any_kind.filter(pairs__document=document) if document.is_answer else Query.objects.all()
    query = queries.filter(collection=snapshot.collection_id, query_id=key[0]).first()
    if query is None:
        return None
    text = "\n".join(part for part in (document.title, document.text) if part)
    return Example(query.text, text[:4_000], grade) if text.strip() else None
